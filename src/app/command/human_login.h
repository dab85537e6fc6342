// A human's login on the command line: asked for on the terminal or given by options, held for a
// few calls, and ended again. The operator's socket alone approves nothing
// (approvals.md#2-who-decides).
#pragma once

#include <string>

#include "app/wiring/server_client.h"

namespace interlock {

struct LoginOptions {
    std::string email;            // --email; empty: asked for.
    bool password_stdin = false;  // --password-stdin; otherwise asked for.
    std::string totp;             // --totp
};
void add_login_options(CLI::App& command, LoginOptions& options);

class HumanLogin {
public:
    // Logs in; what went wrong has been printed. So is what the human must hear of: recoveries of
    // people of their tenants.
    static std::expected<HumanLogin, ExitCode> start(
        const GlobalOptions& global, const std::string& data_folder, const LoginOptions& options);
    ~HumanLogin();  // Logs out.
    HumanLogin(HumanLogin&& other) noexcept;
    HumanLogin& operator=(HumanLogin&&) = delete;

    // Calls as the human. When the server wants the password again, gives it and calls once more.
    Result<ServerAnswer> post(const std::string& target, const Json& body);
    Result<ServerAnswer> put(const std::string& target, const Json& body) {
        return server_.put(target, body);
    }
    Result<ServerAnswer> get(const std::string& target) { return server_.get(target); }
    Result<ServerAnswer> remove(const std::string& target) { return server_.remove(target); }
    const std::string& email() const { return email_; }

private:
    explicit HumanLogin(const std::string& data_folder) : server_(data_folder) {}
    Result<SecretString> password_again();

    ServerClient server_;
    std::string email_;
    SecretString password_;  // Kept only when it came from standard input and cannot be asked for.
    bool logged_in_ = false;
};

}  // namespace interlock
