// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 as far as the plugin asks it: device 1 is current.
struct Uuid {
  unsigned char bytes[16];
};

extern "C" {

int cuCtxGetDevice(int* device) {
  *device = 1;
  return 0;
}

int cuDeviceGetUuid(Uuid* uuid, int device) {
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<unsigned char>(device * 16 + i);
  return 0;
}
}
