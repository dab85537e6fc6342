// A mailer that keeps the letters, and fails as told.
#pragma once

#include <functional>
#include <vector>

#include "host/ports/mailer.h"

namespace interlock {

class FakeMailer final : public Mailer {
public:
    Result<void> send(const Mail& mail) override {
        ++tries;
        if (while_sending) {
            while_sending();
        }
        if (failure != nullptr) {
            return fail(*failure, "The letter could not be sent.");
        }
        sent.push_back(mail);
        return {};
    }

    std::vector<Mail> sent;
    int tries = 0;
    const ErrorKind* failure = nullptr;  // Null: every letter goes out.
    std::function<void()> while_sending;
};

}  // namespace interlock
