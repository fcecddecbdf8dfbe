#include <algorithm>
#include <stdexcept>
#include <string>

const std::string DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

// A whole number written in a base.
std::string in_base(long long number, int base) {
    if (base < 2 || base > static_cast<int>(DIGITS.size())) {
        throw std::invalid_argument("a base lies between 2 and 36");
    }
    if (number == 0) {
        return "0";
    }
    std::string written;
    const bool negative = number < 0;
    while (number != 0) {
        const long long digit = number % base;
        written += DIGITS[digit < 0 ? -digit : digit];
        number /= base;
    }
    if (negative) {
        written += '-';
    }
    std::reverse(written.begin(), written.end());
    return written;
}

void test_bases() {
    assert(in_base(10, 2) == "1010");
    assert(in_base(255, 16) == "ff");
    assert(in_base(35, 36) == "z");
    assert(in_base(1234, 10) == "1234");
}

void test_zero_and_below() {
    assert(in_base(0, 7) == "0");
    assert(in_base(-8, 2) == "-1000");
    assert(in_base(-9223372036854775807LL - 1, 16) == "-8000000000000000");
}

void test_bases_that_there_are_not() {
    assert_throws(std::invalid_argument, in_base(1, 1));
    assert_throws(std::invalid_argument, in_base(1, 37));
    assert_throws(std::invalid_argument, in_base(0, -2));
}
