#include "engine/rules/merkle.h"

#include <bit>

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {
namespace {

std::string leaf_hash(const std::string& leaf) {
    return sha256(std::string(1, '\0') + leaf);
}

std::string node_hash(const std::string& left, const std::string& right) {
    return sha256('\1' + left + right);
}

// The largest power of two below `count`, which is at least 2.
std::size_t split_of(std::size_t count) {
    return std::bit_floor(count - 1);
}

std::string raw_root(std::span<const std::string> leaves) {
    if (leaves.empty()) {
        return sha256("");
    }
    if (leaves.size() == 1) {
        return leaf_hash(leaves.front());
    }
    const std::size_t split = split_of(leaves.size());
    return node_hash(raw_root(leaves.first(split)), raw_root(leaves.subspan(split)));
}

void add_path(
    std::span<const std::string> leaves, std::size_t index, std::vector<std::string>& path) {
    if (leaves.size() < 2) {
        return;
    }
    const std::size_t split = split_of(leaves.size());
    const bool is_left = index < split;
    const auto mine = is_left ? leaves.first(split) : leaves.subspan(split);
    const auto other = is_left ? leaves.subspan(split) : leaves.first(split);
    add_path(mine, is_left ? index : index - split, path);
    path.push_back(to_hex(raw_root(other)));
}

// Gives the root of the leaves and continues their paths up to it.
std::string add_paths(
    std::span<const std::string> leaves, std::span<std::vector<std::string>> paths) {
    if (leaves.size() < 2) {
        return raw_root(leaves);
    }
    const std::size_t split = split_of(leaves.size());
    const std::string left = add_paths(leaves.first(split), paths.first(split));
    const std::string right = add_paths(leaves.subspan(split), paths.subspan(split));
    for (std::size_t i = 0; i < paths.size(); ++i) {
        paths[i].push_back(to_hex(i < split ? right : left));
    }
    return node_hash(left, right);
}

// Consumes the path from its end, which is the top of the tree.
std::string climb(
    const std::string& leaf,
    std::size_t index,
    std::size_t count,
    std::span<const std::string> path) {
    if (count == 1) {
        return path.empty() ? leaf_hash(leaf) : std::string();
    }
    if (path.empty()) {
        return {};
    }
    const auto sibling = from_hex(path.back());
    if (!sibling) {
        return {};
    }
    const std::size_t split = split_of(count);
    const bool is_left = index < split;
    const std::string mine =
        is_left ? climb(leaf, index, split, path.first(path.size() - 1))
                : climb(leaf, index - split, count - split, path.first(path.size() - 1));
    if (mine.empty()) {
        return {};
    }
    return is_left ? node_hash(mine, *sibling) : node_hash(*sibling, mine);
}

}  // namespace

std::string merkle_root(std::span<const std::string> leaves) {
    return to_hex(raw_root(leaves));
}

std::vector<std::string> merkle_path(std::span<const std::string> leaves, std::size_t index) {
    std::vector<std::string> path;
    add_path(leaves, index, path);
    return path;
}

MerkleTree merkle_tree(std::span<const std::string> leaves) {
    MerkleTree tree{{}, std::vector<std::vector<std::string>>(leaves.size())};
    tree.root = to_hex(add_paths(leaves, tree.paths));
    return tree;
}

std::string merkle_root_from(const std::string& leaf, const MerklePlace& place) {
    if (place.index >= place.count) {
        return {};
    }
    const std::string root = climb(leaf, place.index, place.count, place.path);
    return root.empty() ? std::string() : to_hex(root);
}

}  // namespace interlock
