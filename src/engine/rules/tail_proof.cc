#include "engine/rules/tail_proof.h"

#include <charconv>

#include "base/bytes.h"
#include "base/crypto.h"
#include "engine/rules/merkle.h"

namespace interlock {
namespace {

// More heads than a batch can move; a longer path is no proof of ours.
constexpr std::size_t kTailPathMax = 32;

std::string tail_text(std::int64_t epoch, std::string_view root) {
    return "interlock.tail.v1\n" + std::to_string(epoch) + "\n" + std::string(root) + "\n";
}

// Cuts the next word off the text.
std::string_view next_word(std::string_view& text) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    return word;
}

template <class Number>
bool read_number(std::string_view& text, Number& number) {
    const std::string_view word = next_word(text);
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    return read.ec == std::errc() && read.ptr == word.data() + word.size();
}

}  // namespace

std::vector<std::string> prove_tails(
    std::span<const HeadLine> heads, std::int64_t epoch, const SignText& sign) {
    std::vector<std::string> proofs;
    if (heads.empty()) {
        return proofs;
    }
    std::vector<std::string> leaves;
    for (const HeadLine& head : heads) {
        leaves.push_back(to_text(head));
    }
    const MerkleTree tree = merkle_tree(leaves);
    const std::string signature = to_hex(sign(tail_text(epoch, tree.root)));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        std::string proof = std::to_string(epoch) + " " + std::to_string(leaves.size()) + " " +
                            std::to_string(i) + " " + signature;
        for (const std::string& sibling : tree.paths[i]) {
            proof += " " + sibling;
        }
        proofs.push_back(std::move(proof));
    }
    return proofs;
}

std::optional<std::int64_t> proven_by(
    const HeadLine& head, std::string_view proof, const KeyLineage& keys) {
    std::int64_t epoch = 0;
    MerklePlace place;
    if (!read_number(proof, epoch) || !read_number(proof, place.count) ||
        !read_number(proof, place.index)) {
        return std::nullopt;
    }
    const auto signature = from_hex(next_word(proof));
    while (!proof.empty() && place.path.size() <= kTailPathMax) {
        place.path.emplace_back(next_word(proof));
    }
    const auto key = keys.key_of(epoch);
    const auto raw_key = key ? from_hex(*key) : Result<std::string>(std::string());
    const std::string root = merkle_root_from(to_text(head), place);
    const bool holds = signature && key && raw_key && !root.empty() &&
                       place.path.size() <= kTailPathMax &&
                       ed25519_verify(*raw_key, tail_text(epoch, root), *signature);
    return holds ? std::optional(epoch) : std::nullopt;
}

}  // namespace interlock
