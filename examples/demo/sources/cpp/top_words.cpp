#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

// The words of a text in small letters: letters and digits, and apostrophes between them.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::string word;
    for (std::size_t at = 0; at <= text.size(); at++) {
        const unsigned char sign = at < text.size() ? text[at] : ' ';
        const bool inner = sign == '\'' && !word.empty() && at + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[at + 1]));
        if (std::isalnum(sign) || inner) {
            word += static_cast<char>(std::tolower(sign));
        } else if (!word.empty()) {
            words.push_back(word);
            word.clear();
        }
    }
    return words;
}

// The words that stand most often in a text, with how often.
std::vector<std::pair<std::string, int>> top_words(const std::string& text, int count) {
    std::map<std::string, int> counts;
    for (const std::string& word : words_of(text)) {
        counts[word] += 1;
    }
    std::vector<std::pair<std::string, int>> ranked(counts.begin(), counts.end());
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(std::max(count, 0))));
    return ranked;
}
