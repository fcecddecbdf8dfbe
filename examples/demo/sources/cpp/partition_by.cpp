#include <string>
#include <utility>
#include <vector>

// The items for which a question is answered with yes, and the others.
template <typename T, typename Question>
std::pair<std::vector<T>, std::vector<T>> partition_by(const std::vector<T>& items, Question question) {
    std::pair<std::vector<T>, std::vector<T>> parts;
    for (const T& item : items) {
        (question(item) ? parts.first : parts.second).push_back(item);
    }
    return parts;
}

void test_both_parts_keep_the_order() {
    const auto parts = partition_by(std::vector<int>{5, 2, 4, 1, 3}, [](int item) { return item % 2 == 1; });
    assert(parts.first == std::vector<int>{5, 1, 3});
    assert(parts.second == std::vector<int>{2, 4});
}

void test_any_type() {
    const std::vector<std::string> words{"a", "bcd", "ef"};
    const auto parts = partition_by(words, [](const std::string& word) { return word.size() > 1; });
    assert(parts.first == std::vector<std::string>{"bcd", "ef"});
    assert(parts.second.size() == 1);
}

void test_each_item_is_asked_about_once() {
    int asked = 0;
    const auto parts = partition_by(std::vector<int>{1, 2, 3}, [&](int) { asked++; return false; });
    assert(asked == 3);
    assert(parts.first.empty());
    assert(parts.second.size() == 3);
}

void test_nothing() {
    const auto parts = partition_by(std::vector<double>{}, [](double) { return true; });
    assert(parts.first.empty() && parts.second.empty());
}
