#include <algorithm>
#include <memory>
#include <vector>

// A set of numbers, kept in order by a binary tree.
class SearchTree {
 public:
    // Puts a number in; says whether it was new.
    bool insert(int value) {
        std::unique_ptr<Node>* place = &root_;
        while (*place) {
            if ((*place)->value == value) {
                return false;
            }
            place = value < (*place)->value ? &(*place)->left : &(*place)->right;
        }
        *place = std::make_unique<Node>(value);
        size_ += 1;
        return true;
    }

    // All numbers, the smallest first.
    std::vector<int> sorted() const {
        std::vector<int> values;
        collect(root_.get(), values);
        return values;
    }

    int size() const { return size_; }

    int depth() const { return depth(root_.get()); }

 private:
    struct Node {
        explicit Node(int value) : value(value) {}
        int value;
        std::unique_ptr<Node> left, right;
    };

    static void collect(const Node* node, std::vector<int>& values) {
        if (node) {
            collect(node->left.get(), values);
            values.push_back(node->value);
            collect(node->right.get(), values);
        }
    }

    static int depth(const Node* node) {
        return node ? 1 + std::max(depth(node->left.get()), depth(node->right.get())) : 0;
    }

    std::unique_ptr<Node> root_;
    int size_ = 0;
};

void test_numbers_are_kept_in_order() {
    SearchTree tree;
    for (int value : {5, 2, 8, 1, 9}) {
        assert(tree.insert(value));
    }
    assert(tree.sorted() == std::vector<int>{1, 2, 5, 8, 9});
    assert(tree.size() == 5);
}

void test_a_number_is_there_once() {
    SearchTree tree;
    assert(tree.insert(3));
    assert(!tree.insert(3));
    assert(tree.size() == 1);
    assert(tree.sorted() == std::vector<int>{3});
}

void test_smaller_to_the_left_larger_to_the_right() {
    SearchTree tree;
    for (int value : {4, 2, 6, 1, 3, 5, 7}) {
        tree.insert(value);
    }
    assert(tree.depth() == 3);
    SearchTree line;
    for (int value : {1, 2, 3, 4}) {
        line.insert(value);
    }
    assert(line.depth() == 4);
}
