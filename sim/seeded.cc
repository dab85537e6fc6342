#include "sim/seeded.h"

namespace interlock::sim {

std::uint64_t SeededRandom::next() {
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

std::uint64_t mix_seeds(std::uint64_t a, std::uint64_t b) {
    SeededRandom first(a);
    SeededRandom second(first.next() ^ b);
    return second.next();
}

std::string SeededIds::letters(std::size_t count) {
    constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
    std::string text;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (i % 12 == 0) {
            bits = random_.next();
        }
        text += kAlphabet[bits & 31];
        bits >>= 5;
    }
    return text;
}

std::string SeededIds::new_id(std::string_view prefix) {
    return std::string(prefix) + "_" + letters(26);
}

SecretString SeededIds::new_secret(std::string_view prefix) {
    return SecretString(std::string(prefix) + "_" + letters(52));
}

void SimClock::advance(Duration span) {
    now_ = now_ + span;
    monotonic_ = {monotonic_.microseconds + span.microseconds};
}

}  // namespace interlock::sim
