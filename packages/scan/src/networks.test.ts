// Which name servers' addresses are asked for: those whose names do not tell whose they are.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { vanityServers } from './networks.ts';

for (const [what, servers, expected] of [
  ['a vendor’s', ['a.vendor.test', 'b.vendor.test'], []],
  ['its own', ['ns1.example.com', 'ns2.example.com', 'ns3.example.com'], ['ns1.example.com', 'ns2.example.com']],
  ['itself', ['example.com'], ['example.com']],
  ['its own beside a vendor’s', ['a.vendor.test', 'ns1.example.com'], ['ns1.example.com']],
  ['a stranger’s beside a vendor’s', ['a.vendor.test', 'b.vendor.test', 'ns.stranger.test'], ['ns.stranger.test']],
  ['two vendors’, equally', ['a.one.test', 'b.one.test', 'a.two.test', 'b.two.test'], []],
  ['one vendor’s under four names', ['ns-1.dns-01.com', 'ns-2.dns-02.net', 'ns-3.dns-03.org', 'ns-4.dns-04.co.uk'], []],
  ['a namesake’s', ['ns.notexample.com', 'ns2.notexample.com'], []],
  ['nobody’s', [], []],
] as const) {
  it(`of name servers that are ${what}, ${expected.length} are asked for`, () => {
    assert.deepEqual(vanityServers('example.com', servers), expected);
  });
}
