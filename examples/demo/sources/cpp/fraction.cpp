#include <numeric>
#include <ostream>
#include <stdexcept>

// A fraction in its lowest terms; the sign stands above.
class Fraction {
 public:
    Fraction(long above = 0, long below = 1) {
        if (below == 0) {
            throw std::invalid_argument("nothing can be parted by zero");
        }
        const long common = std::gcd(above, below) * (below < 0 ? -1 : 1);
        above_ = above / common;
        below_ = below / common;
    }

    long above() const { return above_; }
    long below() const { return below_; }

    // The sum of two fractions.
    Fraction plus(const Fraction& other) const {
        return Fraction(above_ * other.below_ + other.above_ * below_, below_ * other.below_);
    }

    bool operator==(const Fraction& other) const { return above_ == other.above_ && below_ == other.below_; }

 private:
    long above_;
    long below_;
};

std::ostream& operator<<(std::ostream& out, const Fraction& value) {
    return out << value.above() << "/" << value.below();
}

void test_sums() {
    assert(Fraction(1, 2).plus(Fraction(1, 3)) == Fraction(5, 6));
    assert(Fraction(1, 4).plus(Fraction(1, 4)) == Fraction(1, 2));
    assert(Fraction(3).plus(Fraction(0, 7)) == Fraction(3));
}

void test_signs() {
    assert(Fraction(1, -2).plus(Fraction(1, 2)) == Fraction(0));
    assert(Fraction(-1, 3).plus(Fraction(-1, 6)) == Fraction(-1, 2));
}

void test_lowest_terms() {
    const Fraction sum = Fraction(1, 6).plus(Fraction(1, 10));
    assert(sum.above() == 4);
    assert(sum.below() == 15);
}

void test_neither_is_changed() {
    Fraction half(1, 2);
    const Fraction third(1, 3);
    half.plus(third);
    assert(half == Fraction(1, 2));
    assert(third == Fraction(1, 3));
}
