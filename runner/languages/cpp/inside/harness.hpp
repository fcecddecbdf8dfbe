// Stands between the program and its tests, in a namespace with a random name: runs the tests and reports.
// Only line comments here: a comment that the program left open must not end in it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <unistd.h>
// As few as will do: each takes its time in every build. What a program has not included it cannot have a value of.
#ifdef _GLIBCXX_OSTREAM
#include <sstream>
#endif

namespace PLACEHOLDER {
namespace {

const int rows_end = 3, sheet_end = 5;
const std::size_t row_bytes = 3800, value_chars = 400, sent_chars = 3000;
unsigned char key[32];
unsigned long sequence = 0;
bool revealed = false;
pid_t process = 0;

// BLAKE2s with a key and 16 bytes of digest (RFC 7693).
std::string tag_of(const std::string& data) {
  static const std::uint32_t iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  static const unsigned char sigma[10][17] = {
      "\x0\x1\x2\x3\x4\x5\x6\x7\x8\x9\xa\xb\xc\xd\xe\xf", "\xe\xa\x4\x8\x9\xf\xd\x6\x1\xc\x0\x2\xb\x7\x5\x3",
      "\xb\x8\xc\x0\x5\x2\xf\xd\xa\xe\x3\x6\x7\x1\x9\x4", "\x7\x9\x3\x1\xd\xc\xb\xe\x2\x6\x5\xa\x4\x0\xf\x8",
      "\x9\x0\x5\x7\x2\x4\xa\xf\xe\x1\xb\xc\x6\x8\x3\xd", "\x2\xc\x6\xa\x0\xb\x8\x3\x4\xd\x7\x5\xf\xe\x1\x9",
      "\xc\x5\x1\xf\xe\xd\x4\xa\x0\x7\x6\x3\x9\x2\x8\xb", "\xd\xb\x7\xe\xc\x1\x3\x9\x5\x0\xf\x4\x8\x6\x2\xa",
      "\x6\xf\xe\x9\xb\x3\x0\x8\xc\x2\xd\x7\x1\x4\xa\x5", "\xa\x2\x8\x4\x7\x6\x1\x5\xf\xb\x9\xe\x3\xc\xd\x0"};
  static const unsigned char lanes[8][4] = {{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15},
                                            {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14}};
  std::string whole(reinterpret_cast<const char*>(key), 32);
  whole.resize(64, '\0');
  whole += data;
  std::uint32_t h[8];
  for (int at = 0; at < 8; at++) h[at] = iv[at];
  h[0] ^= 0x01010000 ^ (32 << 8) ^ 16;
  const std::size_t blocks = (whole.size() + 63) / 64;
  for (std::size_t block = 0; block < blocks; block++) {
    std::uint32_t m[16] = {}, v[16];
    for (std::size_t at = 0; at < 64 && block * 64 + at < whole.size(); at++)
      m[at / 4] |= std::uint32_t(static_cast<unsigned char>(whole[block * 64 + at])) << (8 * (at % 4));
    for (int at = 0; at < 8; at++) v[at] = h[at], v[at + 8] = iv[at];
    const bool last = block + 1 == blocks;
    v[12] ^= std::uint32_t(last ? whole.size() : 64 * (block + 1));
    if (last) v[14] = ~v[14];
    for (int round = 0; round < 10; round++)
      for (int lane = 0; lane < 8; lane++) {
        std::uint32_t &a = v[lanes[lane][0]], &b = v[lanes[lane][1]], &c = v[lanes[lane][2]], &d = v[lanes[lane][3]];
        auto right = [](std::uint32_t x, int by) { return (x >> by) | (x << (32 - by)); };
        a += b + m[sigma[round][2 * lane]], d = right(d ^ a, 16), c += d, b = right(b ^ c, 12);
        a += b + m[sigma[round][2 * lane + 1]], d = right(d ^ a, 8), c += d, b = right(b ^ c, 7);
      }
    for (int at = 0; at < 8; at++) h[at] ^= v[at] ^ v[at + 8];
  }
  std::string tag;
  for (int at = 0; at < 16; at++) {
    const unsigned char byte = h[at / 4] >> (8 * (at % 4));
    tag += "0123456789abcdef"[byte >> 4];
    tag += "0123456789abcdef"[byte & 15];
  }
  return tag;
}

// Text as a JSON string in ASCII; bytes that are no UTF-8 become U+FFFD.
std::string quoted(const std::string& text) {
  std::string made = "\"";
  char unit[8];
  auto put = [&](unsigned code) { std::snprintf(unit, sizeof unit, "\\u%04x", code), made += unit; };
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char byte = text[at++];
    if (byte == '"' || byte == '\\') made += '\\', made += char(byte);
    else if (byte < 32 || byte == 127) put(byte);
    else if (byte < 127) made += char(byte);
    else {
      const int more = byte >= 0xf0 && byte < 0xf5 ? 3 : byte >= 0xe0 && byte < 0xf0 ? 2 : byte >= 0xc2 && byte < 0xe0 ? 1 : 0;
      std::uint32_t code = more == 3 ? byte & 7 : more == 2 ? byte & 15 : byte & 31;
      bool whole = more > 0 && at + more <= text.size();
      for (int next = 0; whole && next < more; next++) {
        const unsigned char follows = text[at + next];
        whole = (follows & 0xc0) == 0x80, code = code << 6 | (follows & 63);
      }
      if (!whole || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) { put(0xfffd); continue; }
      at += more;
      if (code < 0x10000) put(code);
      else put(0xd800 + ((code - 0x10000) >> 10)), put(0xdc00 + ((code - 0x10000) & 0x3ff));
    }
  }
  return made + "\"";
}

// A copy of the process that the program forked has nothing to say.
void say(const std::string& facts) {
  if (getpid() != process) return;
  const std::string row = "{\"seq\":" + std::to_string(++sequence) + "," + facts + "}";
  const std::string line = "\n" + tag_of(row) + " " + row + "\n";
  if (write(rows_end, line.data(), line.size()) < 0) _exit(1);
}

double now() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e3 + at.tv_nsec / 1e6;
}

struct Failed {};
struct Assertion { int number, line; };
struct Planned { const char* test; int number, first, last; };
extern const Planned plan[];

const char* test = nullptr;
double began = 0;
int asserted = 0;  // how many assertions are planned in the running test
std::string reported;
Assertion open{0, 0};  // number 0 where none is

std::string shortened(const std::string& text) {
  return text.size() <= value_chars ? text : text.substr(0, value_chars - 3) + "...";
}

void row(const Assertion& place, const char* outcome, const std::string& message, const std::string& values, const std::string& value = "") {
  open = {0, 0};
  const std::string once = "|" + std::to_string(place.number) + outcome + "|";
  if (reported.find(once) != std::string::npos) return;
  if (value.empty()) reported += once;
  std::string facts = "\"test\":" + quoted(test) + ",\"assertion\":" + std::to_string(place.number) + ",\"outcome\":\"" + outcome +
                      "\",\"line\":" + std::to_string(place.line) + ",\"ms\":" + std::to_string(now() - began);
  if (!value.empty()) facts += ",\"value\":" + quoted(value);
  const std::string said = facts + ",\"message\":" + quoted(shortened(message)) + ",\"values\":[" + values + "]";
  say(said.size() < row_bytes ? said : facts + ",\"message\":\"\",\"values\":[]");
}

Assertion placed(int line) {
  for (const Planned* each = plan; each->test; each++)
    if (test && !std::strcmp(each->test, test) && each->first <= line && line <= each->last) return {each->number, line};
  return {asserted + line + 1, line};
}

// What may be shown of a value.
#ifdef _GLIBCXX_OSTREAM
template <class T> concept Streamable = requires(std::ostream& out, const T& value) { out << value; };
#endif
template <class T> concept Ranged = requires(const T& value) { value.begin(); value.end(); };

template <class T> std::string shown(const T& value);
template <class A, class B> std::string shown(const std::pair<A, B>& value) { return "(" + shown(value.first) + ", " + shown(value.second) + ")"; }
#ifdef _GLIBCXX_OPTIONAL
template <class T> std::string shown(const std::optional<T>& value) { return value ? shown(*value) : "nothing"; }
#endif
template <class... T> std::string shown(const std::tuple<T...>& value) {
  std::string made;
  std::apply([&](const T&... each) { ((made += (made.empty() ? "" : ", ") + shown(each)), ...); }, value);
  return "(" + made + ")";
}
template <class T> std::string shown(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_convertible_v<const T&, std::string>) return quoted(std::string(value));
  else if constexpr (std::is_same_v<T, char>) return "'" + std::string(1, value) + "'";
  else if constexpr (Ranged<T>) {
    std::string made;
    int count = 0;
    for (const auto& each : value) {
      if (++count > 40) { made += ", ..."; break; }
      made += (made.empty() ? "" : ", ") + shown(each);
    }
    return "{" + made + "}";
  }
#ifdef _GLIBCXX_OSTREAM
  else if constexpr (Streamable<T>) {
    std::ostringstream out;
    out << std::boolalpha << value;
    return out.str();
  }
#endif
  else if constexpr (std::is_integral_v<T>) return std::to_string(value);
  else if constexpr (std::is_enum_v<T>) return std::to_string(static_cast<long long>(value));
  else if constexpr (std::is_floating_point_v<T>) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", double(value));
    return text;
  } else return "?";
}

// An assertion's condition, taken apart at its comparison.
struct Condition {
  bool holds;
  std::string values;
  Condition(bool held) : holds(held) {}
  template <class L, class R> Condition(bool held, const L& left, const R& right) : holds(held) {
    if (!held && revealed) values = quoted(shortened(shown(left))) + "," + quoted(shortened(shown(right)));
  }
  explicit operator bool() const { return holds; }
};
template <class L> struct Left {
  const L& value;
  template <class R> Condition operator==(const R& right) const { return {bool(value == right), value, right}; }
  template <class R> Condition operator!=(const R& right) const { return {bool(value != right), value, right}; }
  template <class R> Condition operator<(const R& right) const { return {bool(value < right), value, right}; }
  template <class R> Condition operator<=(const R& right) const { return {bool(value <= right), value, right}; }
  template <class R> Condition operator>(const R& right) const { return {bool(value > right), value, right}; }
  template <class R> Condition operator>=(const R& right) const { return {bool(value >= right), value, right}; }
  template <class R> Condition operator&(const R& right) const { return {bool(value & right)}; }
  template <class R> Condition operator|(const R& right) const { return {bool(value | right)}; }
  template <class R> Condition operator^(const R& right) const { return {bool(value ^ right)}; }
  operator Condition() const { return {static_cast<bool>(value)}; }
  explicit operator bool() const { return static_cast<bool>(value); }
};
struct Taking {
  template <class T> Left<T> operator<<(const T& value) const { return {value}; }
};

void at(int line) { if (test) open = placed(line); }
void check(int line, const Condition& condition, const char* text) {
  if (!test) {
    if (!condition.holds) throw Failed{};
    return;
  }
  row(placed(line), condition.holds ? "PASSED" : "FAILED", condition.holds || !revealed || !condition.values.empty() ? "" : text, condition.values);
  if (!condition.holds) throw Failed{};
}

void ended(bool failed, const std::string& message) {
  if (failed && open.number) row(Assertion(open), "FAILED", revealed ? message : "", "");
  say("\"test\":" + quoted(test) + ",\"assertion\":null,\"outcome\":\"" + (failed ? "FAILED" : "PASSED") + "\",\"line\":null,\"message\":" +
      quoted(revealed ? shortened(message) : "") + ",\"values\":[],\"ms\":" + std::to_string(now() - began));
  test = nullptr;
}

void run(const char* name, int count, void (*body)()) {
  test = name, asserted = count, reported.clear(), open = {0, 0}, began = now();
  say("\"begin\":" + quoted(name));
  try {
    body();
    ended(false, "");
  } catch (const Failed&) {
    open = {0, 0};
    ended(true, "");
  } catch (const std::exception& error) {
    ended(true, std::string("an exception: ") + error.what());
  } catch (...) {
    ended(true, "an exception that is no std::exception");
  }
}

// The nonce, and whether anything may be shown; then nobody else can have it from that descriptor.
void start() {
  process = getpid();
  unsigned char told[33];
  if (read(sheet_end, told, sizeof told) != sizeof told) _exit(1);
  std::memcpy(key, told, 32);
  revealed = told[32] == '1';
  close(sheet_end);
  // The build said one row under this nonce.
  sequence = 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);
}
[[noreturn]] void finish() {
  std::fflush(nullptr);
  _exit(0);
}

#ifdef WITH_CASES
// Arguments from JSON, by the types of the function's parameters; the value to JSON, by its own.
struct Reader {
  const char* at;
  [[noreturn]] void refuse(const char* wanted) const { throw std::invalid_argument(std::string("an argument is not ") + wanted); }
  bool next(char sign) {
    if (*at != sign) return false;
    at++;
    return true;
  }
  std::string text() {
    if (!next('"')) refuse("a text");
    std::string made;
    while (*at && *at != '"') {
      if (*at != '\\') { made += *at++; continue; }
      const char sign = at[1];
      at += 2;
      if (sign != 'u') { made += sign == 'n' ? '\n' : sign == 't' ? '\t' : sign == 'r' ? '\r' : sign == 'b' ? '\b' : sign == 'f' ? '\f' : sign; continue; }
      std::uint32_t code = unit();
      if (code >= 0xd800 && code < 0xdc00 && at[0] == '\\' && at[1] == 'u') at += 2, code = 0x10000 + ((code & 0x3ff) << 10) + (unit() & 0x3ff);
      if (code < 0x80) made += char(code);
      else if (code < 0x800) made += char(0xc0 | code >> 6), made += char(0x80 | (code & 63));
      else if (code < 0x10000) made += char(0xe0 | code >> 12), made += char(0x80 | (code >> 6 & 63)), made += char(0x80 | (code & 63));
      else made += char(0xf0 | code >> 18), made += char(0x80 | (code >> 12 & 63)), made += char(0x80 | (code >> 6 & 63)), made += char(0x80 | (code & 63));
    }
    next('"');
    return made;
  }
  std::uint32_t unit() {
    const std::string digits(at, strnlen(at, 4));
    at += digits.size();
    return std::strtoul(digits.c_str(), nullptr, 16);
  }
  template <class Item> void list(char opening, char closing, const Item& item) {
    if (!next(opening)) refuse(opening == '[' ? "a list" : "an object");
    if (next(closing)) return;
    do item(); while (next(','));
    if (!next(closing)) refuse("what the function takes");
  }
};

template <class T> struct Tag {};
template <class T> concept Map = requires { typename T::mapped_type; };
template <class T> concept Fixed = requires { std::tuple_size<T>::value; };
template <class T> concept Sequence = requires(T& value, typename T::value_type item) { value.push_back(item); };

template <class T> T taken(Reader& from, Tag<T>);
#ifdef _GLIBCXX_OPTIONAL
template <class T> std::optional<T> taken(Reader& from, Tag<std::optional<T>>) {
  if (!std::strncmp(from.at, "null", 4)) { from.at += 4; return {}; }
  return taken(from, Tag<T>{});
}
#endif
template <class T> T taken(Reader& from, Tag<T>) {
  if constexpr (std::is_same_v<T, bool>) {
    const bool value = *from.at == 't';
    if (std::strncmp(from.at, value ? "true" : "false", value ? 4 : 5)) from.refuse("true or false");
    from.at += value ? 4 : 5;
    return value;
  } else if constexpr (std::is_same_v<T, char>) {
    const std::string value = from.text();
    if (value.size() != 1) from.refuse("one character");
    return value[0];
  } else if constexpr (std::is_integral_v<T>) {
    char* end = nullptr;
    const T value = std::is_signed_v<T> ? T(std::strtoll(from.at, &end, 10)) : T(std::strtoull(from.at, &end, 10));
    if (end == from.at || *end == '.' || *end == 'e') from.refuse("a whole number");
    from.at = end;
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    char* end = nullptr;
    const T value = std::strtod(from.at, &end);
    if (end == from.at) from.refuse("a number");
    from.at = end;
    return value;
  } else if constexpr (std::is_constructible_v<T, const std::string&> && !Ranged<T>) {
    return T(from.text());
  } else if constexpr (std::is_same_v<T, std::string>) {
    return from.text();
  } else if constexpr (Map<T>) {
    T made;
    from.list('{', '}', [&] {
      const std::string name = from.text();
      if (!from.next(':')) from.refuse("an object");
      Reader inner{name.c_str()};
      if constexpr (std::is_same_v<typename T::key_type, std::string>) made[name] = taken(from, Tag<typename T::mapped_type>{});
      else made[taken(inner, Tag<typename T::key_type>{})] = taken(from, Tag<typename T::mapped_type>{});
    });
    return made;
  } else if constexpr (Sequence<T>) {
    T made;
    from.list('[', ']', [&] { made.push_back(taken(from, Tag<typename T::value_type>{})); });
    return made;
  } else if constexpr (Ranged<T> && !Fixed<T>) {
    T made;
    from.list('[', ']', [&] { made.insert(taken(from, Tag<typename T::value_type>{})); });
    return made;
  } else {
    T made{};
    bool first = true;
    if (!from.next('[')) from.refuse("a list");
    std::apply([&](auto&... each) {
      auto one = [&](auto& place) {
        if (!first && !from.next(',')) from.refuse("a list of that length");
        first = false;
        place = taken(from, Tag<std::remove_cvref_t<decltype(place)>>{});
      };
      (one(each), ...);
    }, made);
    if (!from.next(']')) from.refuse("a list of that length");
    return made;
  }
}

template <class T> std::string given(const T& value);
#ifdef _GLIBCXX_OPTIONAL
template <class T> std::string given(const std::optional<T>& value) { return value ? given(*value) : "null"; }
#endif
template <class T> std::string given(const T& value) {
  std::string made;
  auto add = [&](const std::string& item) { made += (made.empty() ? "" : ",") + item; };
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_same_v<T, char>) return quoted(std::string(1, value));
  else if constexpr (std::is_convertible_v<const T&, std::string>) return quoted(std::string(value));
  else if constexpr (std::is_integral_v<T>) return std::to_string(value);
  else if constexpr (std::is_floating_point_v<T>) {
    if (__builtin_isnan(value)) return "NaN";
    if (__builtin_isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
      std::snprintf(text, sizeof text, "%.*g", digits, double(value));
      if (std::strtod(text, nullptr) == double(value)) break;
    }
    return std::strpbrk(text, ".e") ? text : std::string(text) + ".0";
  } else if constexpr (Map<T>) {
    for (const auto& [name, item] : value) {
      const std::string word = given(name);
      add((word[0] == '"' ? word : "\"" + word + "\"") + ":" + given(item));
    }
    return "{" + made + "}";
  } else if constexpr (Ranged<T>) {
    for (const auto& item : value) {
      add(given(std::remove_cvref_t<decltype(item)>(item)));
      if (made.size() > 4 * sent_chars) break;
    }
    return "[" + made + "]";
  } else {
    std::apply([&](const auto&... item) { (add(given(item)), ...); }, value);
    return "[" + made + "]";
  }
}

template <class R, class... A> void call(R (*function)(A...), const Assertion& place, const char* arguments) {
  open = place;
  Reader from{arguments};
  if (!from.next('[')) from.refuse("in a list");
  bool first = true;
  auto one = [&]<class T>(Tag<T> type) {
    if (!first && !from.next(',')) from.refuse("there: too few are given");
    first = false;
    return taken(from, type);
  };
  std::tuple<std::decay_t<A>...> taken_all{one(Tag<std::decay_t<A>>{})...};
  if (!from.next(']')) from.refuse("wanted: too many are given");
  const std::string value = std::apply([&](auto&... each) { return given(std::decay_t<R>(function(static_cast<A>(each)...))); }, taken_all);
  if (value.size() > sent_chars) throw std::length_error("the value has more than 3000 characters as JSON, which are sent out at most");
  row(place, "PASSED", "", revealed ? quoted(value.substr(0, value_chars)) : "", "json " + value);
}
#endif

}  // namespace
}  // namespace PLACEHOLDER

#undef assert
#define assert(...) (PLACEHOLDER::at(__LINE__), PLACEHOLDER::check(__LINE__, PLACEHOLDER::Condition(PLACEHOLDER::Taking{} << __VA_ARGS__), #__VA_ARGS__))
#define assert_throws(type, ...) \
  do { \
    bool PLACEHOLDER_thrown = false; \
    PLACEHOLDER::at(__LINE__); \
    try { static_cast<void>(__VA_ARGS__); } catch (const type&) { PLACEHOLDER_thrown = true; } \
    PLACEHOLDER::check(__LINE__, PLACEHOLDER_thrown, "no " #type " was thrown by " #__VA_ARGS__); \
  } while (false)
