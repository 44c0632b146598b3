import { expect, test } from "vitest";
import { isInternal } from "../../../src/network/internal-address.ts";

const internal =
  "0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.127.255.255 127.8.8.8 169.254.169.254 172.16.0.1 172.31.0.1 192.0.0.170 " +
  "192.168.1.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:10.0.0.1 ::ffff:7f00:1 " +
  "::FFFF:169.254.169.254 0:0:0:0:0:ffff:7f00:1 fe80::1 fe80::1%eth0 febf::1 fec0::1 fc00::1 fd00:ec2::254 ff02::1 " +
  "64:ff9b::10.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::6440:1 64:ff9b:: 64:ff9b:1::808:808 2002:a00:1:: " +
  "2002:808:808:: 2001::1 2001:db8::1 3fff::1 4000::1 no-address 127.1 0x7f000001";
test.each(internal.split(" "))("%s is internal", (address) => {
  expect(isInternal(address)).toBe(true);
});

const open =
  "8.8.8.8 93.184.216.34 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 169.253.255.255 " +
  "169.255.0.1 172.15.255.255 172.32.0.1 192.167.255.255 192.169.0.1 223.255.255.255 2606:4700::1111 2a00:1450::1 " +
  "64:ff9b::8.8.8.8 64:ff9b::8c52:7905";
test.each(open.split(" "))("%s is public", (address) => {
  expect(isInternal(address)).toBe(false);
});
