# Rooms and their parts (ADR 0030). What a room may see is said by its call of interlock_room, and
# nowhere else; that no room sees itself through others is checked by tools/check_rooms.py.
#
# Every library has an include root of its own with links to exactly its folders, and sees only the
# roots of what it names: a forbidden include does not compile. The roots lie beside the build
# folders rather than inside one, so that all presets share entries of the compiler cache.

# interlock_library(name FOLDERS engine/wire engine/rules LINKS targets PACKAGES targets): one static
# library of all sources below the folders; its tests are put into the caller's variable `tests`.
function(interlock_library name)
    cmake_parse_arguments(arg "" "BASE" "FOLDERS;LINKS;PACKAGES" ${ARGN})
    if(NOT arg_BASE)
        set(arg_BASE ${CMAKE_SOURCE_DIR}/src)
    endif()
    set(root ${INTERLOCK_INCLUDE_ROOTS}/${name})
    set(all "")
    foreach(folder IN LISTS arg_FOLDERS)
        file(GLOB_RECURSE found CONFIGURE_DEPENDS ${arg_BASE}/${folder}/*.cc)
        list(APPEND all ${found})
        cmake_path(GET folder PARENT_PATH parent)
        file(MAKE_DIRECTORY ${root}/${parent})
        file(CREATE_LINK ${arg_BASE}/${folder} ${root}/${folder} SYMBOLIC)
    endforeach()
    set(sources ${all})
    list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
    list(FILTER all INCLUDE REGEX "_test\\.cc$")
    set(tests ${tests} ${all} PARENT_SCOPE)
    if(sources)
        add_library(interlock_${name} STATIC ${sources})
        target_include_directories(interlock_${name} PUBLIC ${root})
        target_compile_options(interlock_${name} PRIVATE ${INTERLOCK_WARNINGS})
        target_link_libraries(interlock_${name} PUBLIC ${arg_LINKS} PRIVATE ${arg_PACKAGES})
        interlock_unity(interlock_${name})
    else()
        add_library(interlock_${name} INTERFACE)
        target_include_directories(interlock_${name} INTERFACE ${root})
        target_link_libraries(interlock_${name} INTERFACE ${arg_LINKS})
    endif()
endfunction()

# interlock_room(trader USES loop account host PACKAGES targets TEST_USES rooms): the library of a
# room, and a narrower one, interlock_<room>_pure, of its wire/ and rules/. The pure part sees the pure
# parts of the rooms used and nothing else of them.
function(interlock_room room)
    cmake_parse_arguments(arg "" "" "USES;PACKAGES;TEST_USES" ${ARGN})
    set(pure_folders "")
    set(folders "")
    foreach(folder wire rules ports service face)
        if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/src/${room}/${folder})
            if(folder MATCHES "wire|rules")
                list(APPEND pure_folders ${room}/${folder})
            else()
                list(APPEND folders ${room}/${folder})
            endif()
        endif()
    endforeach()
    set(pure_links interlock_codec)
    set(links interlock_${room}_pure)
    foreach(used IN LISTS arg_USES)
        list(APPEND links interlock_${used})
        if(TARGET interlock_${used}_pure)
            list(APPEND pure_links interlock_${used}_pure)
        endif()
    endforeach()
    set(tests "")
    interlock_library(${room}_pure FOLDERS ${pure_folders} LINKS ${pure_links})
    interlock_library(${room} FOLDERS ${folders} LINKS ${links} PACKAGES ${arg_PACKAGES})
    if(tests AND INTERLOCK_TESTS)
        interlock_test(${room} SOURCES ${tests} USES ${room} ${arg_TEST_USES})
    endif()
endfunction()

# interlock_part(engine/sqlite USES engine PACKAGES targets): a library of its own for one folder, for
# what stands behind a port (a store, a venue, a platform) and for what has no rooms inside.
function(interlock_part path)
    cmake_parse_arguments(arg "" "BASE" "USES;PACKAGES;TEST_USES" ${ARGN})
    string(REGEX REPLACE "platforms/" "" name ${path})
    string(REPLACE "/" "_" name ${name})
    list(TRANSFORM arg_USES PREPEND interlock_)
    set(tests "")
    set(base "")
    if(arg_BASE)
        set(base BASE ${arg_BASE})
    endif()
    interlock_library(${name} ${base} FOLDERS ${path} LINKS ${arg_USES} PACKAGES ${arg_PACKAGES})
    if(tests AND INTERLOCK_TESTS)
        interlock_test(${name} SOURCES ${tests} USES ${name} ${arg_TEST_USES})
    endif()
endfunction()

# interlock_test(name SOURCES a_test.cc USES rooms PACKAGES targets [ALONE]): one test binary, run by
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
