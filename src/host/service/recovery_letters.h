// Letters about recoveries: to everybody of the tenants that the login opens, and the code to the
// person whom somebody helps.
//
// Each letter is a timer of its own. Its turn makes the code, when it is to hold one, and sets the
// timer of the next attempt; after the commit a worker sends, and a last turn takes the timer away.
// Whatever is lost on the way, the timer is there, so what was started while no server ran is told
// when one starts. A letter may arrive twice; of several codes the newest is good.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "engine/service/worker_pool.h"
#include "host/ports/mailer.h"
#include "host/service/principal_service.h"
#include "host/wire/mail.h"

namespace interlock {

class RecoveryLetters {
public:
    // All of these outlive the service.
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        PrincipalService& principals;
        WorkerPool& workers;  // Not the pool that checks passwords.
        Mailer& mailer;
        IdSource& ids;
        std::function<std::string()> base_url;  // From any thread.
    };
    // Becomes the principals' recovery rule. Before the runner opens.
    explicit RecoveryLetters(Parts parts);

    // Before the workers stop: what waits for one is left for the next start.
    void stop() { is_stopping_ = true; }

private:
    // What a timer holds. Nothing in it is secret.
    struct Order {
        HumanId to;
        std::int64_t attempts = 0;
        bool is_code = false;
        Timestamp started_at;  // Of the case whose code it brings.
        std::string subject;   // Otherwise.
        std::string text;
    };
    static Json encode_order(const Order& order);
    static Result<Order> decode_order(const std::string& text);

    Result<void> write(Turn& turn, const PrincipalService::RecoveryNews& news);
    static void set(Turn& turn, const TimerId& timer_id, const Order& order, Timestamp at);
    Result<void> attempt(Turn& turn, const TimerItem& timer);
    // Nothing when the letter is needed no longer.
    Result<std::optional<Mail>> compose(Turn& turn, const Order& order, const Human& to);
    void send(TimerId timer_id, HumanId to, std::shared_ptr<Mail> letter);
    void settle(const TimerId& timer_id, const HumanId& to, const Error* error);

    Parts parts_;
    std::atomic<bool> is_stopping_{false};
};

}  // namespace interlock
