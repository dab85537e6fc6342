#include "engine/service/kill_latch.h"

namespace interlock {

// FNV-1a; zero marks an empty slot, so it is never a fingerprint.
std::uint64_t KillLatch::fingerprint_of(const TenantId& tenant_id) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const char c : tenant_id.text()) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    }
    return hash == 0 ? 1 : hash;
}

const KillLatch::Slot* KillLatch::find(const TenantId& tenant_id) const {
    if (tenant_id == system_tenant()) {
        return &global_;
    }
    const std::uint64_t wanted = fingerprint_of(tenant_id);
    for (std::size_t probe = 0; probe < kTenantsMax; ++probe) {
        const Slot& slot = slots_[(wanted + probe) % kTenantsMax];
        const std::uint64_t found = slot.fingerprint.load(std::memory_order_seq_cst);
        if (found == wanted) {
            return &slot;
        }
        if (found == 0) {
            return nullptr;
        }
    }
    return nullptr;
}

KillLatch::Slot* KillLatch::find_or_add(const TenantId& tenant_id) {
    if (tenant_id == system_tenant()) {
        return &global_;
    }
    const std::uint64_t wanted = fingerprint_of(tenant_id);
    for (std::size_t probe = 0; probe < kTenantsMax; ++probe) {
        Slot& slot = slots_[(wanted + probe) % kTenantsMax];
        std::uint64_t found = 0;
        if (slot.fingerprint.compare_exchange_strong(found, wanted) || found == wanted) {
            return &slot;
        }
    }
    return nullptr;
}

void KillLatch::raise_global() {
    global_.raised.fetch_add(1, std::memory_order_seq_cst);
}

void KillLatch::raise(const TenantId& tenant_id) {
    Slot* slot = find_or_add(tenant_id);
    if (slot == nullptr) {
        raise_global();  // No room to stop one tenant: stop all of them.
        return;
    }
    slot->raised.fetch_add(1, std::memory_order_seq_cst);
}

void KillLatch::begin_activation(const TenantId& tenant_id) {
    // Announced before it is raised: whoever reads the raised count first and this second either
    // does not count the raise or sees the activation.
    Slot* slot = find_or_add(tenant_id);
    (slot == nullptr ? global_ : *slot).under_way.fetch_add(1, std::memory_order_seq_cst);
    raise(tenant_id);
}

void KillLatch::end_activation(const TenantId& tenant_id) {
    Slot* slot = find_or_add(tenant_id);
    (slot == nullptr ? global_ : *slot).under_way.fetch_sub(1, std::memory_order_seq_cst);
}

std::int64_t KillLatch::activations_under_way(const TenantId& tenant_id) const {
    const Slot* slot = find(tenant_id);
    return slot == nullptr ? 0 : slot->under_way.load(std::memory_order_seq_cst);
}

std::uint64_t KillLatch::raised_count(const TenantId& tenant_id) const {
    const Slot* slot = find(tenant_id);
    return slot == nullptr ? 0 : slot->raised.load(std::memory_order_seq_cst);
}

bool KillLatch::lower(const TenantId& tenant_id, std::uint64_t seen) {
    Slot* slot = find_or_add(tenant_id);
    if (slot == nullptr) {
        return false;
    }
    // Only the engine thread lowers. `raised` may pass `seen` right after this check; the latch
    // then counts as up again, because the two numbers differ.
    slot->lowered.store(seen, std::memory_order_seq_cst);
    return slot->raised.load(std::memory_order_seq_cst) == seen;
}

bool KillLatch::is_raised_global() const {
    return global_.raised.load(std::memory_order_seq_cst) !=
           global_.lowered.load(std::memory_order_seq_cst);
}

bool KillLatch::is_raised(const TenantId& tenant_id) const {
    return is_raised_global() || is_raised_itself(tenant_id);
}

bool KillLatch::is_raised_itself(const TenantId& tenant_id) const {
    const Slot* slot = find(tenant_id);
    return slot != nullptr && slot->raised.load(std::memory_order_seq_cst) !=
                                  slot->lowered.load(std::memory_order_seq_cst);
}

KillLatch::SendPermit KillLatch::try_send(const TenantId& tenant_id) {
    // Announce first, look second: whoever raises sets the latch first and looks at the count
    // second, so either the sender sees the latch or the raiser sees the sender.
    in_flight_.fetch_add(1, std::memory_order_seq_cst);
    if (is_raised(tenant_id)) {
        in_flight_.fetch_sub(1, std::memory_order_seq_cst);
        return SendPermit(nullptr);
    }
    return SendPermit(this);
}

KillLatch::SendPermit::~SendPermit() {
    if (latch_ != nullptr) {
        latch_->in_flight_.fetch_sub(1, std::memory_order_seq_cst);
    }
}

}  // namespace interlock
