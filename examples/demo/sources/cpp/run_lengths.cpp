#include <string>
#include <utility>
#include <vector>

// What a text is made of: each character with how often it stands in a row.
std::vector<std::pair<char, int>> run_lengths(const std::string& text) {
    std::vector<std::pair<char, int>> runs;
    for (char sign : text) {
        if (!runs.empty() && runs.back().first == sign) {
            runs.back().second += 1;
        } else {
            runs.push_back({sign, 1});
        }
    }
    return runs;
}
