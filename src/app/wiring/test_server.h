// A server on the operator socket of a folder that answers as a test says, for the commands that
// talk to one.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "app/wiring/data_path.h"
#include "net/http_server.h"

namespace interlock {

class TestServer {
public:
    using Answer = std::function<HttpResponse(const HttpRequest&)>;

    TestServer(const std::string& data_folder, Answer answer)
        : TestServer(data_folder, HttpHandler([answer](HttpRequest request, HttpResponderPtr to) {
                         to->send(answer(request));
                     })) {}

    // For servers that answer later or never.
    TestServer(const std::string& data_folder, HttpHandler handler) {
        HttpServerConfig config;
        config.unix_socket_path = operator_socket_path(data_folder);
        auto server = HttpServer::open(config, std::move(handler));
        EXPECT_TRUE(server.has_value()) << (server ? "" : server.error().message);
        if (server) {
            server_ = *std::move(server);
            server_->start();
        }
    }
    ~TestServer() {
        if (server_) {
            server_->stop(std::chrono::milliseconds(0));
        }
    }
    TestServer(const TestServer&) = delete;
    TestServer& operator=(const TestServer&) = delete;

private:
    std::unique_ptr<HttpServer> server_;
};

inline HttpResponse json_answer(int status, std::string body) {
    return text_response(status, "application/json", std::move(body));
}

}  // namespace interlock
