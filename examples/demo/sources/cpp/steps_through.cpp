#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

using Maze = std::vector<std::string>;

// Where a sign stands in a maze, as (row, column); (-1, -1) where it does not.
std::pair<int, int> place_of(const Maze& maze, char sign) {
    for (std::size_t row = 0; row < maze.size(); row++) {
        const std::size_t column = maze[row].find(sign);
        if (column != std::string::npos) {
            return {static_cast<int>(row), static_cast<int>(column)};
        }
    }
    return {-1, -1};
}

// How many steps lead through a maze.
std::optional<int> steps_through(const Maze& maze) {
    const std::pair<int, int> start = place_of(maze, 'S'), goal = place_of(maze, 'G');
    if (start.first < 0 || goal.first < 0) {
        return std::nullopt;
    }
    std::vector<std::vector<int>> steps(maze.size());
    for (std::size_t row = 0; row < maze.size(); row++) {
        steps[row].assign(maze[row].size(), -1);
    }
    std::queue<std::pair<int, int>> waiting;
    waiting.push(start);
    steps[start.first][start.second] = 0;
    while (!waiting.empty()) {
        const auto [row, column] = waiting.front();
        waiting.pop();
        if (std::pair(row, column) == goal) {
            return steps[row][column];
        }
        const int moves[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
        for (const auto& move : moves) {
            const int y = row + move[0], x = column + move[1];
            const bool inside = y >= 0 && y < static_cast<int>(maze.size()) && x >= 0 && x < static_cast<int>(maze[y].size());
            if (inside && maze[y][x] != '#' && steps[y][x] < 0) {
                steps[y][x] = steps[row][column] + 1;
                waiting.push({y, x});
            }
        }
    }
    return std::nullopt;
}
