// Builds the OpenSSL context of the server.
#include "net/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::string_view kNextStep =
    "Point the certificate and key settings at matching, readable PEM files.";

std::unexpected<Error> refuse(std::string message) {
    return fail(errors::invalid_config, std::move(message), std::string(kNextStep));
}

// The reason OpenSSL gave last; its queue is emptied so that it cannot blame a later call.
std::string take_openssl_reason() {
    const unsigned long code = ERR_peek_last_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    std::string text = reason == nullptr ? "no reason was given" : reason;
    ERR_clear_error();
    return text;
}

Result<void> check_readable(const std::string& path, std::string_view what) {
    if (::access(path.c_str(), R_OK) == 0) {
        return {};
    }
    return refuse(
        "The TLS " + std::string(what) + " " + path +
        " cannot be read: " + std::generic_category().message(errno) + ".");
}

constexpr mode_t kOthersMask = 077;

// Whoever can read the key can be this server.
Result<void> check_private(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0 || (found.st_mode & kOthersMask) == 0) {
        return {};  // What cannot be looked at is told by whoever reads it.
    }
    return fail(
        errors::invalid_config,
        "The TLS private key " + path + " is open to other users of this machine.",
        "Run: chmod 600 " + path);
}

// There is nobody to ask at start; an encrypted key is refused rather than waiting on a terminal.
int give_no_passphrase(char*, int, int, void*) {
    return 0;
}

// HTTP/1.1 is all we speak. A client that offers only other protocols may still try.
int select_protocol(
    SSL*,
    const unsigned char** out,
    unsigned char* out_size,
    const unsigned char* offered,
    unsigned int offered_size,
    void*) {
    static constexpr std::array<unsigned char, 9> kOurs = {
        8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    unsigned char* chosen = nullptr;
    const int outcome =
        SSL_select_next_proto(&chosen, out_size, kOurs.data(), kOurs.size(), offered, offered_size);
    *out = chosen;
    return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

Result<void> load_files(SSL_CTX* context, const TlsFiles& files) {
    TRY(check_readable(files.certificate_chain_path, "certificate"));
    TRY(check_readable(files.private_key_path, "private key"));
    TRY(check_private(files.private_key_path));
    if (SSL_CTX_use_certificate_chain_file(context, files.certificate_chain_path.c_str()) != 1) {
        return refuse(
            "The TLS certificate " + files.certificate_chain_path +
            " is no PEM certificate chain: " + take_openssl_reason() + ".");
    }
    if (SSL_CTX_use_PrivateKey_file(context, files.private_key_path.c_str(), SSL_FILETYPE_PEM) ==
        1) {
        return {};
    }
    // OpenSSL compares the key with the certificate while loading it.
    if (ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH) {
        ERR_clear_error();
        return refuse(
            "The TLS private key " + files.private_key_path +
            " does not belong to the certificate " + files.certificate_chain_path + ".");
    }
    return refuse(
        "The TLS private key " + files.private_key_path +
        " is no unencrypted PEM key: " + take_openssl_reason() + ".");
}

}  // namespace

Result<TlsContextPtr> open_tls_context(const TlsFiles& files) {
    TlsContextPtr context(SSL_CTX_new(TLS_server_method()));
    if (!context) {
        return fail(
            errors::crypto_failed, "OpenSSL made no TLS context: " + take_openssl_reason() + ".");
    }
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(
        context.get(),
        SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // Idle connections give their record buffers back; writes may be resumed at any length.
    SSL_CTX_set_mode(
        context.get(),
        SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    // Authenticated encryption with forward secrecy only; TLS 1.3 has nothing else.
    if (SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20") != 1) {
        return fail(
            errors::crypto_failed, "OpenSSL offers no cipher: " + take_openssl_reason() + ".");
    }
    SSL_CTX_set_default_passwd_cb(context.get(), give_no_passphrase);
    SSL_CTX_set_alpn_select_cb(context.get(), select_protocol, nullptr);
    TRY(load_files(context.get(), files));
    return context;
}

}  // namespace interlock
