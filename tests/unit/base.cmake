# SPDX-License-Identifier: Apache-2.0
goldcrest_test(base_test SOURCES base/crc32c_test.cc base/hash_test.cc)
