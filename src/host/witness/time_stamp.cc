#include "host/witness/time_stamp.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/ts.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <ctime>
#include <memory>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::size_t kNonceBytes = 16;

template <auto Free>
struct FreeWith {
    template <class T>
    void operator()(T* value) const {
        Free(value);
    }
};
using RequestPtr = std::unique_ptr<TS_REQ, FreeWith<TS_REQ_free>>;
using ResponsePtr = std::unique_ptr<TS_RESP, FreeWith<TS_RESP_free>>;
using ImprintPtr = std::unique_ptr<TS_MSG_IMPRINT, FreeWith<TS_MSG_IMPRINT_free>>;
using AlgorithmPtr = std::unique_ptr<X509_ALGOR, FreeWith<X509_ALGOR_free>>;
using IntegerPtr = std::unique_ptr<ASN1_INTEGER, FreeWith<ASN1_INTEGER_free>>;
using ContextPtr = std::unique_ptr<TS_VERIFY_CTX, FreeWith<TS_VERIFY_CTX_free>>;
using StorePtr = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::unexpected<Error> crypto_failure(const std::string& what) {
    std::string reason;
    while (const unsigned long code = ERR_get_error()) {
        const char* text = ERR_reason_error_string(code);
        reason = text == nullptr ? reason : text;
    }
    return fail(errors::crypto_failed, what + (reason.empty() ? "" : ": " + reason));
}

std::string digest_of(std::string_view bytes) {
    return from_hex(sha256_hex(bytes)).value_or("");
}

Result<ResponsePtr> parse_response(std::string_view der) {
    const unsigned char* at = bytes_of(der);
    ResponsePtr response(d2i_TS_RESP(nullptr, &at, static_cast<long>(der.size())));
    if (!response || at != bytes_of(der) + der.size()) {
        return crypto_failure("the answer is no time-stamp response");
    }
    if (TS_RESP_get_tst_info(response.get()) == nullptr) {
        return fail(errors::crypto_failed, "the time-stamp server granted no token");
    }
    return response;
}

Result<std::time_t> time_of(TS_RESP& response) {
    std::tm parts = {};
    const ASN1_GENERALIZEDTIME* time = TS_TST_INFO_get_time(TS_RESP_get_tst_info(&response));
    if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) {
        return fail(errors::crypto_failed, "the token has no time");
    }
    return timegm(&parts);
}

// Judged as of the token's own time: a certificate runs out long before what it signed.
Result<StorePtr> trusted_store(const std::string& ca_file, std::time_t at) {
    StorePtr store(X509_STORE_new());
    const int loaded = ca_file.empty()
                           ? X509_STORE_set_default_paths(store.get())
                           : X509_STORE_load_locations(store.get(), ca_file.c_str(), nullptr);
    if (loaded != 1) {
        return crypto_failure("the authorities in " + ca_file + " cannot be read");
    }
    X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store.get()), at);
    return store;
}

Result<Timestamp> verify(
    std::string_view der,
    std::string_view bytes,
    const std::string* ca_file,
    const TimeStampRequest* request) {
    ERR_clear_error();
    TRY_ASSIGN(const ResponsePtr response, parse_response(der));
    TRY_ASSIGN(const std::time_t at, time_of(*response));
    ContextPtr context(TS_VERIFY_CTX_new());
    if (request != nullptr) {
        const unsigned char* place = bytes_of(request->der);
        const RequestPtr asked(d2i_TS_REQ(nullptr, &place, static_cast<long>(request->der.size())));
        if (!asked || TS_REQ_to_TS_VERIFY_CTX(asked.get(), context.get()) == nullptr) {
            return crypto_failure("the time-stamp request cannot be read");
        }
    }
    int flags = TS_VFY_VERSION | TS_VFY_IMPRINT | (request != nullptr ? TS_VFY_NONCE : 0);
    const std::string digest = digest_of(bytes);
    // The context frees it.
    auto* imprint = static_cast<unsigned char*>(OPENSSL_memdup(digest.data(), digest.size()));
    TS_VERIFY_CTX_set_imprint(context.get(), imprint, static_cast<long>(digest.size()));
    if (ca_file != nullptr) {
        TRY_ASSIGN(StorePtr store, trusted_store(*ca_file, at));
        TS_VERIFY_CTX_set_store(context.get(), store.release());
        flags |= TS_VFY_SIGNATURE;
    }
    TS_VERIFY_CTX_set_flags(context.get(), flags);
    if (TS_RESP_verify_response(context.get(), response.get()) != 1) {
        return crypto_failure("the time-stamp token does not hold");
    }
    return Timestamp{static_cast<std::int64_t>(at) * 1'000'000};
}

}  // namespace

Result<TimeStampRequest> make_time_stamp_request(std::string_view bytes) {
    const RequestPtr request(TS_REQ_new());
    const ImprintPtr imprint(TS_MSG_IMPRINT_new());
    const AlgorithmPtr algorithm(X509_ALGOR_new());
    std::string digest = digest_of(bytes);
    const std::string nonce_bytes = random_bytes(kNonceBytes);
    BIGNUM* number =
        BN_bin2bn(bytes_of(nonce_bytes), static_cast<int>(nonce_bytes.size()), nullptr);
    const IntegerPtr nonce(BN_to_ASN1_INTEGER(number, nullptr));
    BN_free(number);
    const bool is_made =
        request && imprint && algorithm && nonce &&
        X509_ALGOR_set0(algorithm.get(), OBJ_nid2obj(NID_sha256), V_ASN1_NULL, nullptr) == 1 &&
        TS_MSG_IMPRINT_set_algo(imprint.get(), algorithm.get()) == 1 &&
        TS_MSG_IMPRINT_set_msg(
            imprint.get(),
            reinterpret_cast<unsigned char*>(digest.data()),
            static_cast<int>(digest.size())) == 1 &&
        TS_REQ_set_version(request.get(), 1) == 1 &&
        TS_REQ_set_msg_imprint(request.get(), imprint.get()) == 1 &&
        TS_REQ_set_nonce(request.get(), nonce.get()) == 1 &&
        TS_REQ_set_cert_req(request.get(), 1) == 1;
    unsigned char* der = nullptr;
    const int size = is_made ? i2d_TS_REQ(request.get(), &der) : -1;
    if (size <= 0) {
        return crypto_failure("cannot make a time-stamp request");
    }
    TimeStampRequest made{
        std::string(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size))};
    OPENSSL_free(der);
    return made;
}

Result<Timestamp> verify_time_stamp(
    std::string_view response_der,
    std::string_view bytes,
    const std::string& ca_file,
    const TimeStampRequest* request) {
    return verify(response_der, bytes, &ca_file, request);
}

Result<Timestamp> read_time_stamp(std::string_view response_der, std::string_view bytes) {
    return verify(response_der, bytes, nullptr, nullptr);
}

}  // namespace interlock
