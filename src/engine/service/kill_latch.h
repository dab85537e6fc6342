// The latch of the kill switch in the effect path (docs/contracts/kill-switch.md#1-turning-it-on):
// atomics only, set by whichever thread receives the call, before any queue, lock or disk.
//
// A send is bracketed by a SendPermit. raise() makes every later try_send() fail at once, and
// in_flight() tells how many sends that began before are still under way; when it reaches zero
// after a raise, no further order can leave.
//
// Tenants live in a fixed table addressed by a 64-bit fingerprint. Two tenants with one
// fingerprint, or a full table, stop more than was asked for, never less.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "engine/wire/ids.h"

namespace interlock {

class KillLatch {
public:
    static constexpr std::size_t kTenantsMax = 1 << 14;

    void raise_global();
    // The system tenant raises the global latch.
    void raise(const TenantId& tenant_id);

    // Brackets an activation from its acceptance to its record. begin_activation() raises the
    // latch; while one is under way the latch must not be lowered, because a release decided before
    // it was recorded would undo it unseen.
    void begin_activation(const TenantId& tenant_id);
    void end_activation(const TenantId& tenant_id);
    std::int64_t activations_under_way(const TenantId& tenant_id) const;

    // How often the latch was raised; a release names the count it decided on, so that an
    // activation that came in meanwhile is not undone.
    std::uint64_t raised_count(const TenantId& tenant_id) const;
    // Lowers the latch if nothing was raised since `seen`; says whether it did.
    bool lower(const TenantId& tenant_id, std::uint64_t seen);

    // The tenant's own latch or the global one.
    bool is_raised(const TenantId& tenant_id) const;
    bool is_raised_global() const;
    // Its own latch alone; for the system tenant the global one.
    bool is_raised_itself(const TenantId& tenant_id) const;

    // Held while something is being sent to the outside.
    class SendPermit {
    public:
        SendPermit(SendPermit&& other) noexcept : latch_(other.latch_) { other.latch_ = nullptr; }
        SendPermit(const SendPermit&) = delete;
        SendPermit& operator=(const SendPermit&) = delete;
        SendPermit& operator=(SendPermit&&) = delete;
        ~SendPermit();
        explicit operator bool() const { return latch_ != nullptr; }

    private:
        friend class KillLatch;
        explicit SendPermit(KillLatch* latch) : latch_(latch) {}
        KillLatch* latch_;
    };
    // An empty permit when the latch is up for this tenant.
    SendPermit try_send(const TenantId& tenant_id);

    std::int64_t in_flight() const { return in_flight_.load(std::memory_order_seq_cst); }

private:
    struct Slot {
        std::atomic<std::uint64_t> fingerprint{0};
        std::atomic<std::uint64_t> raised{0};    // Times raised.
        std::atomic<std::uint64_t> lowered{0};   // The count that was lowered; up while unequal.
        std::atomic<std::int64_t> under_way{0};  // Activations accepted and not yet recorded.
    };

    static std::uint64_t fingerprint_of(const TenantId& tenant_id);
    const Slot* find(const TenantId& tenant_id) const;
    Slot* find_or_add(const TenantId& tenant_id);

    Slot global_;
    std::array<Slot, kTenantsMax> slots_;
    std::atomic<std::int64_t> in_flight_{0};
};

}  // namespace interlock
