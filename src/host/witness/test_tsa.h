// A time-stamp authority for tests: its own root, a certificate for time stamping, and answers to
// requests as RFC 3161 has them.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ts.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace interlock {

class TestTsa {
public:
    explicit TestTsa(const std::string& folder, const std::string& name = "tsa")
        : ca_file_(folder + "/" + name + ".pem") {
        make_certificate(*root_, *root_key_, *root_key_, "critical,CA:TRUE", NID_basic_constraints);
        make_certificate(*cert_, *key_, *root_key_, "critical,timeStamping", NID_ext_key_usage);
        FILE* file = fopen(ca_file_.c_str(), "w");
        EXPECT_NE(file, nullptr);
        PEM_write_X509(file, root_.get());
        fclose(file);
    }

    const std::string& ca_file() const { return ca_file_; }

    // The response to a request; with `is_granted` false it says why not.
    std::string answer(const std::string& request, bool is_granted = true) {
        TS_RESP_CTX* context = TS_RESP_CTX_new();
        ASN1_OBJECT* policy = OBJ_txt2obj("1.2.3.4.1", 1);
        TS_RESP_CTX_set_signer_cert(context, cert_.get());
        TS_RESP_CTX_set_signer_key(context, key_.get());
        TS_RESP_CTX_set_signer_digest(context, EVP_sha256());
        TS_RESP_CTX_set_ess_cert_id_digest(context, EVP_sha256());
        TS_RESP_CTX_set_def_policy(context, policy);
        TS_RESP_CTX_add_md(context, is_granted ? EVP_sha256() : EVP_sha512());
        TS_RESP_CTX_set_serial_cb(context, serial, nullptr);
        BIO* in = BIO_new_mem_buf(request.data(), static_cast<int>(request.size()));
        TS_RESP* response = TS_RESP_create_response(context, in);
        EXPECT_NE(response, nullptr);
        unsigned char* der = nullptr;
        const int size = i2d_TS_RESP(response, &der);
        std::string bytes(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
        OPENSSL_free(der);
        TS_RESP_free(response);
        BIO_free(in);
        ASN1_OBJECT_free(policy);
        TS_RESP_CTX_free(context);
        return bytes;
    }

private:
    struct Free {
        void operator()(X509* cert) const { X509_free(cert); }
        void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    };
    using Cert = std::unique_ptr<X509, Free>;
    using Key = std::unique_ptr<EVP_PKEY, Free>;

    static ASN1_INTEGER* serial(TS_RESP_CTX*, void*) {
        ASN1_INTEGER* number = ASN1_INTEGER_new();
        ASN1_INTEGER_set(number, 7);
        return number;
    }

    void make_certificate(
        X509& cert, EVP_PKEY& key, EVP_PKEY& issuer_key, const char* value, int extension) const {
        X509_set_version(&cert, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(&cert), &cert == root_.get() ? 1 : 2);
        X509_gmtime_adj(X509_getm_notBefore(&cert), -60);
        X509_gmtime_adj(X509_getm_notAfter(&cert), 3600);
        X509_set_pubkey(&cert, &key);
        const auto* name = reinterpret_cast<const unsigned char*>(
            &cert == root_.get() ? "a root" : "a time-stamp server");
        X509_NAME_add_entry_by_txt(
            X509_get_subject_name(&cert), "CN", MBSTRING_ASC, name, -1, -1, 0);
        X509_set_issuer_name(&cert, X509_get_subject_name(root_.get()));
        X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, nullptr, extension, value);
        X509_add_ext(&cert, made, -1);
        X509_EXTENSION_free(made);
        EXPECT_GT(X509_sign(&cert, &issuer_key, EVP_sha256()), 0);
    }

    const std::string ca_file_;
    const Key root_key_{EVP_EC_gen("P-256")};
    const Key key_{EVP_EC_gen("P-256")};
    const Cert root_{X509_new()};
    const Cert cert_{X509_new()};
};

}  // namespace interlock
