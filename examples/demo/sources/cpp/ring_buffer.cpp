#include <cstddef>
#include <stdexcept>
#include <vector>

// The last items of a stream, oldest first.
template <typename T>
class RingBuffer {
 public:
    explicit RingBuffer(std::size_t room) : items_(room) {
        if (room == 0) {
            throw std::invalid_argument("a ring buffer needs room");
        }
    }

    // Takes an item in, in place of the oldest where there is no room.
    void push(const T& item) {
        items_[(first_ + size_) % items_.size()] = item;
        if (size_ < items_.size()) {
            size_ += 1;
        } else {
            first_ = (first_ + 1) % items_.size();
        }
    }

    // The n-th oldest item, from 0.
    const T& at(std::size_t number) const {
        if (number >= size_) {
            throw std::out_of_range("there is no such item");
        }
        return items_[(first_ + number) % items_.size()];
    }

    std::size_t size() const { return size_; }

 private:
    std::vector<T> items_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

void test_items_come_out_in_order() {
    RingBuffer<int> ring(3);
    ring.push(10);
    ring.push(20);
    assert(ring.size() == 2);
    assert(ring.at(0) == 10);
    assert(ring.at(1) == 20);
    assert_throws(std::out_of_range, ring.at(2));
}

void test_the_oldest_goes_when_there_is_no_room() {
    RingBuffer<int> ring(3);
    for (int item = 1; item <= 5; item++) {
        ring.push(item);
    }
    assert(ring.size() == 3);
    assert(ring.at(0) == 3);
    assert(ring.at(2) == 5);
}

void test_it_goes_round_more_than_once() {
    RingBuffer<int> ring(2);
    for (int item = 0; item < 101; item++) {
        ring.push(item);
        assert(ring.at(ring.size() - 1) == item);
    }
    assert(ring.at(0) == 99);
}
