// Takes the chance out of libsodium, which salts passwords by itself: their hashes are part of what
// seals vouch for, so every seal would be another one in every run.
#pragma once

namespace interlock {

// From here on the library draws the same byte for ever. For a program that keeps no secrets.
void fix_random();

}  // namespace interlock
