import assert from 'node:assert/strict';
import { memory, onEach, postgres } from '../test/backends.ts';

onEach([memory, postgres], 'segments', (_backend, test) => {
  test('are saved, replaced, listed and deleted within their key and its limit', async ({ segments }) => {
    for (const name of ['b', 'a', 'b']) assert.ok(await segments.put('k1', { name, query: `tld:${name}` }, 2));
    assert.equal(await segments.put('k1', { name: 'c', query: 'x' }, 2), undefined);
    assert.ok(await segments.put('k2', { name: 'b', query: 'other' }, 2));
    const names = async (...page: [number, string?]) => (await segments.ofKey('k1', ...page)).map(({ name }) => name);
    assert.deepEqual([await names(9), await names(1), await names(9, 'a')], [['a', 'b'], ['a'], ['b']]);
    assert.deepEqual([await segments.delete('k1', 'b'), await segments.delete('k1', 'b')], [true, false]);
    assert.deepEqual([await segments.find('k1', 'b'), (await segments.find('k2', 'b'))?.query], [undefined, 'other']);
  });
});
