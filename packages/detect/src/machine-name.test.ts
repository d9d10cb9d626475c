import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isMachineName } from './machine-name.ts';

describe('the name of a rented machine', () => {
  const machines = [
    ...['vps12345.ovh.test', 'vps-0a1b2c3d.vps.ovh.test', 's132-148-1-2.secure.test', 'ip-10-0-0-1.ec2.test'],
    ...['static.1.2.3.4.clients.server.test', 'ec2-3-64-1-2.compute.test', 'ns3012345.ip-51-68-1.test'],
    ...['dedi12.host.test', 'ns3012345.ovh.test', 'os3-321-50322.vs.sakura.test', 'ov-123abc.infomaniak.test'],
    'host12-34-static.serverdedicati.aruba.test',
  ];
  const others = [
    ...['mx1.mail.ovh.test', 'mailstore1.secure.test', 'aspmx2.googlemail.test', 'eu-smtp-inbound-1.mimecast.test'],
    ...['mx10-20.provider.test', 'in1-smtp.messaging.test', 'vpsmail.test', 'ipmail.test', 'clientsmail.test'],
    ...['ip-law.sakura.test', 'vps-hosting-com.mail.test', 'dynamic-solutions.test', 'static-electric.test'],
    ...['ns1.test', '999-999-999-999.test', 'mx.2024-01-02.test'],
  ];
  for (const host of machines) it(`is ${host}`, () => assert.equal(isMachineName(host), true));
  for (const host of others) it(`is not ${host}`, () => assert.equal(isMachineName(host), false));
  it('is told in linear time', () => {
    const host = `${'1-'.repeat(200_000)}x`;
    const startedAt = performance.now();
    isMachineName(host);
    isMachineName('1.'.repeat(200_000));
    assert.ok(performance.now() - startedAt < 10_000);
  });
});
