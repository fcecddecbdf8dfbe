#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

// The parts of a text between dots.
std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, '.');) {
        parts.push_back(part);
    }
    return parts;
}

// Which of two versions is the newer: 1 the first, -1 the second, 0 neither.
int compare_versions(const std::string& first, const std::string& second) {
    const std::vector<std::string> a = parts_of(first), b = parts_of(second);
    for (std::size_t at = 0; at < std::max(a.size(), b.size()); at++) {
        const long left = at < a.size() ? std::stol(a[at]) : 0;
        const long right = at < b.size() ? std::stol(b[at]) : 0;
        if (left != right) {
            return left > right ? 1 : -1;
        }
    }
    return 0;
}
