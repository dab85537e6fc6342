# interlock_layer(core MAY_USE contracts PACKAGES fmt::fmt): one static library and one test binary
# for the folder the call stands in.
#
# Each layer has its own include root holding a single symlink to its folder, and a layer sees only
# the roots of the layers it names: breaking the layering rule is a compile error. The roots lie
# beside the build folders rather than inside one, so that all presets share ccache entries.
function(interlock_layer path)
    cmake_parse_arguments(arg "" "" "MAY_USE;PACKAGES;TEST_USES" ${ARGN})
    string(REPLACE "/" "_" name ${path})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
    set(tests ${sources})
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
    list(FILTER tests INCLUDE REGEX "_test\\.cc$")

    set(root ${INTERLOCK_INCLUDE_ROOTS}/${name})
    cmake_path(GET path PARENT_PATH parent)
    file(MAKE_DIRECTORY ${root}/${parent})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${path} SYMBOLIC)

    list(TRANSFORM arg_MAY_USE PREPEND interlock_)
    if(sources)
        add_library(interlock_${name} STATIC ${sources})
        target_include_directories(interlock_${name} PUBLIC ${root})
        target_compile_options(interlock_${name} PRIVATE ${INTERLOCK_WARNINGS})
        target_link_libraries(interlock_${name} PUBLIC ${arg_MAY_USE} PRIVATE ${arg_PACKAGES})
        interlock_unity(interlock_${name})
    else()
        add_library(interlock_${name} INTERFACE)
        target_include_directories(interlock_${name} INTERFACE ${root})
        target_link_libraries(interlock_${name} INTERFACE ${arg_MAY_USE})
    endif()

    if(tests AND INTERLOCK_TESTS)
        interlock_test(${name} SOURCES ${tests} USES ${name} ${arg_TEST_USES})
    endif()
endfunction()

# interlock_test(name SOURCES a_test.cc USES layers PACKAGES targets [ALONE]): one test binary, run by
# ctest. ALONE: its files share names, so each is compiled by itself.
function(interlock_test name)
    cmake_parse_arguments(arg "ALONE" "" "SOURCES;USES;PACKAGES" ${ARGN})
    add_executable(${name}_test ${arg_SOURCES})
    list(TRANSFORM arg_USES PREPEND interlock_)
    target_compile_options(${name}_test PRIVATE ${INTERLOCK_WARNINGS})
    target_link_libraries(
        ${name}_test PRIVATE ${arg_USES} interlock_testing ${arg_PACKAGES} rapidcheck GTest::gtest_main)
    # Only for those that read files of the checkout: a path in every command line would keep the
    # compiler cache from knowing a test again in another folder.
    foreach(source ${arg_SOURCES})
        get_filename_component(path ${source} ABSOLUTE)
        file(STRINGS ${path} mentions REGEX "INTERLOCK_SOURCE_DIR" LIMIT_COUNT 1)
        if(mentions)
            set_source_files_properties(
                ${source} PROPERTIES COMPILE_DEFINITIONS
                                     "INTERLOCK_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
        endif()
    endforeach()
    # With sanitizers, optimising a test costs more than running it as it is.
    if(INTERLOCK_SANITIZE)
        target_compile_options(${name}_test PRIVATE -O0)
    endif()
    if(NOT arg_ALONE)
        interlock_unity(${name}_test)
    endif()
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." PROPERTIES TIMEOUT 120 DISCOVERY_TIMEOUT 60)
endfunction()
