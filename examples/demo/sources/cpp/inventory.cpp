#include <map>
#include <stdexcept>
#include <string>

// There is not enough of something; `missing` says how much more was wanted.
struct Shortage : std::runtime_error {
    Shortage(const std::string& name, int missing) : std::runtime_error("too little " + name), missing(missing) {}
    int missing;
};

// What lies in a store.
class Inventory {
 public:
    void add(const std::string& name, int count) { stock_[name] += count; }

    int count(const std::string& name) const {
        const auto found = stock_.find(name);
        return found == stock_.end() ? 0 : found->second;
    }

    // Takes all of an order out of the store, or nothing of it.
    void take(const std::map<std::string, int>& order) {
        for (const auto& [name, wanted] : order) {
            if (wanted < 0) {
                throw std::invalid_argument("an order takes, it does not bring");
            }
            if (wanted > count(name)) {
                throw Shortage(name, wanted - count(name));
            }
        }
        for (const auto& [name, wanted] : order) {
            if (wanted > 0 && (stock_[name] -= wanted) == 0) {
                stock_.erase(name);
            }
        }
    }

    std::size_t kinds() const { return stock_.size(); }

 private:
    std::map<std::string, int> stock_;
};

void test_an_order_is_taken() {
    Inventory store;
    store.add("bolt", 10);
    store.add("nut", 4);
    store.take({{"bolt", 3}, {"nut", 1}});
    assert(store.count("bolt") == 7);
    assert(store.count("nut") == 3);
}

void test_all_or_nothing() {
    Inventory store;
    store.add("bolt", 10);
    store.add("nut", 1);
    int missing = 0;
    try {
        store.take({{"bolt", 3}, {"nut", 5}});
    } catch (const Shortage& shortage) {
        missing = shortage.missing;
    }
    assert(missing == 4);
    assert(store.count("bolt") == 10);
    assert(store.count("nut") == 1);
}

void test_what_is_used_up_is_no_kind_any_more() {
    Inventory store;
    store.add("bolt", 2);
    store.take({{"bolt", 2}});
    assert(store.kinds() == 0);
    store.take({{"washer", 0}});
    assert(store.kinds() == 0);
}

void test_a_negative_order_is_refused() {
    Inventory store;
    store.add("bolt", 2);
    assert_throws(std::invalid_argument, store.take({{"bolt", -1}}));
    assert(store.count("bolt") == 2);
}
