#include <optional>
#include <string>
#include <vector>

// The bracket that closes another, a space for what is no opening bracket.
char closing(char opening) {
    switch (opening) {
        case '(': return ')';
        case '[': return ']';
        case '{': return '}';
        default: return ' ';
    }
}

// Where brackets stop to match.
std::optional<int> first_unmatched(const std::string& text) {
    std::vector<int> open;
    for (int at = 0; at < static_cast<int>(text.size()); at++) {
        const char sign = text[at];
        if (closing(sign) != ' ') {
            open.push_back(at);
        } else if (sign == ')' || sign == ']' || sign == '}') {
            if (open.empty() || closing(text[open.back()]) != sign) {
                return at;
            }
            open.pop_back();
        }
    }
    if (open.empty()) {
        return std::nullopt;
    }
    return open.front();
}
