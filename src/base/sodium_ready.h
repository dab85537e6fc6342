// libsodium must be initialised once before its first use; every file that calls it asks here.
#pragma once

namespace interlock {

// CHECKs that the library is initialised; cheap after the first call, from any thread.
void ensure_sodium_ready();

}  // namespace interlock
