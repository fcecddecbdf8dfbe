#include <functional>
#include <queue>
#include <tuple>
#include <vector>

// One sorted list out of many.
std::vector<int> merge_sorted(const std::vector<std::vector<int>>& lists) {
    using Head = std::tuple<int, std::size_t, std::size_t>;
    std::priority_queue<Head, std::vector<Head>, std::greater<Head>> heads;
    for (std::size_t list = 0; list < lists.size(); list++) {
        if (!lists[list].empty()) {
            heads.push({lists[list][0], list, 0});
        }
    }
    std::vector<int> merged;
    while (!heads.empty()) {
        const auto [value, list, at] = heads.top();
        heads.pop();
        merged.push_back(value);
        if (at + 1 < lists[list].size()) {
            heads.push({lists[list][at + 1], list, at + 1});
        }
    }
    return merged;
}
