#include "app/command/human_login.h"

#include <iostream>
#include <utility>

#include "app/command/console.h"

namespace interlock {
namespace {

Result<SecretString> get_password(const LoginOptions& options) {
    return options.password_stdin ? read_secret_from_stdin() : ask_secret("Password: ");
}

// The server answers a wrong password and a missing code alike, so the code is asked for up front.
Result<std::string> get_totp(const LoginOptions& options) {
    if (!options.totp.empty() || options.password_stdin) {
        return options.totp;
    }
    return ask_line("One-time code (empty if you have none): ");
}

// The document holds the password; to_text() makes copies that we cannot wipe, so it lives briefly.
Json login_body(const std::string& email, const SecretString& password, const std::string& totp) {
    Json body = Json::object(
        {{"email", email}, {"password", Json(password.reveal())}, {"want_token", true}});
    if (!totp.empty()) {
        body.set("totp", totp);
    }
    return body;
}

std::string describe_notice(const Json& notice) {
    const std::string email = print_safe(text_at(notice, "email"));
    if (text_at(notice, "state") == "recovered") {
        return "Notice: the login of " + email + " was recovered at " +
               print_safe(text_at(notice, "started_at")) + ".\n";
    }
    return "Notice: a recovery of the login of " + email + " was started by " +
           print_safe(text_at(notice, "started_by")) + ", good from " +
           print_safe(text_at(notice, "good_from")) +
           ". If that is wrong: interlock human object " + email + "\n";
}

// On standard error: what the command prints stays as it is.
void print_notices(const Json& info) {
    const Json* notices = info.find("recoveries");
    if (notices == nullptr || !notices->is_array()) {
        return;
    }
    for (const Json& notice : notices->items()) {
        std::cerr << describe_notice(notice);
    }
}

}  // namespace

void add_login_options(CLI::App& command, LoginOptions& options) {
    command.add_option("--email", options.email, "The human's email; asked for when left out.")
        ->type_name("EMAIL");
    command.add_flag(
        "--password-stdin",
        options.password_stdin,
        "Read the password from the first line of standard input.");
    command.add_option("--totp", options.totp, "One-time code of the authenticator app.")
        ->type_name("DIGITS");
}

std::expected<HumanLogin, ExitCode> HumanLogin::start(
    const GlobalOptions& global, const std::string& data_folder, const LoginOptions& options) {
    HumanLogin login(data_folder);
    const auto email =
        options.email.empty() ? ask_line("Email: ") : Result<std::string>(options.email);
    if (!email) {
        return std::unexpected(report_failure(global, email.error()));
    }
    auto password = get_password(options);
    if (!password) {
        return std::unexpected(report_failure(global, password.error()));
    }
    const auto totp = get_totp(options);
    if (!totp) {
        return std::unexpected(report_failure(global, totp.error()));
    }
    auto answer = expect_ok(
        global, login.server_.post("/account/login", login_body(*email, *password, *totp)));
    if (!answer) {
        return std::unexpected(answer.error());
    }
    login.server_.act_as(SecretString(text_at(*answer, "token")));
    print_notices(*answer);
    login.email_ = *email;
    login.logged_in_ = true;
    if (options.password_stdin) {
        login.password_ = *std::move(password);
    }
    return login;
}

HumanLogin::HumanLogin(HumanLogin&& other) noexcept
    : server_(std::move(other.server_)),
      email_(std::move(other.email_)),
      password_(std::move(other.password_)),
      logged_in_(std::exchange(other.logged_in_, false)) {}

HumanLogin::~HumanLogin() {
    if (std::exchange(logged_in_, false)) {
        // A session that cannot be ended now ends by itself; there is nothing better to do.
        (void)server_.post("/account/logout", Json::object());
    }
}

Result<SecretString> HumanLogin::password_again() {
    return password_.empty() ? ask_secret("Password of " + print_safe(email_) + " again: ")
                             : Result<SecretString>(password_.clone());
}

Result<ServerAnswer> HumanLogin::post(const std::string& target, const Json& body) {
    TRY_ASSIGN(ServerAnswer answer, server_.post(target, body));
    if (answer.ok() || answer.error_code() != "reauthentication_required") {
        return answer;
    }
    TRY_ASSIGN(const SecretString password, password_again());
    TRY_ASSIGN(
        ServerAnswer again,
        server_.post(
            "/account/reauthenticate", Json::object({{"password", Json(password.reveal())}})));
    if (!again.ok()) {
        return again;
    }
    return server_.post(target, body);
}

}  // namespace interlock
