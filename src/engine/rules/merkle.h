// A Merkle tree over the heads of all chains, hashed as RFC 6962 does: SHA-256 of 0x00 and a leaf,
// SHA-256 of 0x01 and two children. A path of log2(n) hashes proves that one head is under a root
// without showing the others.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace interlock {

// 64 hex digits; of no leaves, the hash of nothing.
std::string merkle_root(std::span<const std::string> leaves);
// The siblings from the leaf up, hex. `index` names a leaf.
std::vector<std::string> merkle_path(std::span<const std::string> leaves, std::size_t index);

// The root and every leaf's path at once.
struct MerkleTree {
    std::string root;
    std::vector<std::vector<std::string>> paths;
};
MerkleTree merkle_tree(std::span<const std::string> leaves);

struct MerklePlace {
    std::size_t index = 0;
    std::size_t count = 0;  // Of leaves.
    std::vector<std::string> path;
};
// The root that the leaf has in this place; "" when the path does not fit the place.
std::string merkle_root_from(const std::string& leaf, const MerklePlace& place);

}  // namespace interlock
