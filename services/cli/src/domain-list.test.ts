import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { domainListOf, readDomainList } from './domain-list.ts';

describe('a domain list', () => {
  it('takes names, ranks, URLs, comments and blanks, and reduces hosts to their registrable domain', async () => {
    const text =
      '\uFEFF# companies\nexample.com\r\n\n2,www.Example.org\nhttps://shop.example.co.uk/cart?x=1 # shop\nexample.com.\n';
    const list = await readDomainList(Readable.from([text]));
    assert.deepEqual(list, { domains: ['example.com', 'example.org', 'example.co.uk'], rejected: [] });
  });

  it('reports each bad line with its number and goes on', async () => {
    const text = `co.uk\n10.0.0.1\nexample.net\n../etc\n${'a'.repeat(5_000)}\n`;
    const list = await readDomainList(Readable.from([text]));
    assert.deepEqual(list.domains, ['example.net']);
    assert.equal(list.rejected.map(({ line }) => line).join(), '1,2,4,5');
    assert.ok(list.rejected.every((bad) => bad.message.length > 0 && bad.text.length <= 100));
  });

  it('takes arguments the same way', async () => {
    assert.deepEqual((await domainListOf(['EXAMPLE.com', 'example.com'])).domains, ['example.com']);
  });
});
