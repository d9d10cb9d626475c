// Vanity name servers: those whose names do not identify their operator.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { txt, zone } from '../test/dns-server.ts';
import { scriptedResolver } from '../test/scripted-resolver.ts';
import { CYMRU, findNetwork } from './asn.ts';
import { vanityServers } from './networks.ts';

for (const [what, servers, expected] of casesOf<[string, string[], string[]][]>('scan', 'vanity servers'))
  it(`of name servers that are ${what}, ${expected.length} are asked for`, () =>
    assert.deepEqual(vanityServers('example.com', servers), expected));

const V6_ARPA = `1.1.1.1.${'0.'.repeat(20)}0.0.7.4.6.0.6.2`;
const records = [
  txt('34.216.184.93.origin.asn.cymru.com', '15133 | 93.184.216.0/24 | EU | ripencc | 2008-06-02'),
  txt('34.216.184.93.origin.asn.cymru.com', '1 | 93.0.0.0/8 | EU | ripencc | 2008-06-02'),
  txt('as15133.asn.cymru.com', '15133 | US | arin | 2007-03-19 | EDGECAST, US'),
  txt('1.1.1.1.origin.asn.cymru.com', '13335 4242 | 1.1.1.0/24 | AU | apnic | 2011-08-11'),
  txt('2.2.2.2.origin.asn.cymru.com', 'nonsense'),
  txt('3.3.3.3.origin.asn.cymru.com', '-5 | 3.0.0.0/8'),
  txt(`${V6_ARPA}.origin6.asn.cymru.com`, '13335 | 2606:4700::/32 | US | arin | 2011-11-01'),
];
const none = { asn: null, asName: null, prefix: null };

for (const [address, expected] of [
  ['93.184.216.34', { status: 'found', asn: 15133, asName: 'EDGECAST, US', prefix: '93.184.216.0/24' }],
  ['1.1.1.1', { status: 'found', asn: 13335, asName: null, prefix: '1.1.1.0/24' }],
  ['2.2.2.2', { status: 'malformed', ...none }],
  ['3.3.3.3', { status: 'malformed', ...none }],
  ['8.8.8.8', { status: 'nxdomain', ...none }],
  ['2606:4700::1111', { status: 'found', asn: 13335, asName: null, prefix: '2606:4700::/32' }],
] as const)
  it(`the network of ${address} comes out ${expected.status}`, async () => {
    await using scripted = await scriptedResolver([zone(records)]);
    assert.deepEqual(await findNetwork(scripted.resolver, address, CYMRU), { address, ...expected });
  });
