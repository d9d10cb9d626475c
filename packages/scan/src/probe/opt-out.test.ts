// The opt-out list as people write it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createOptOut } from './opt-out.ts';

it('a listed domain and what is below it are out, its parent and similar names are not', () => {
  const isOut = createOptOut('# asked by post\r\nExample.COM.  # 2024\n\n  shop.example.org \n');
  const names = ['example.com', 'www.example.com', 'com', 'notexample.com', 'example.org', 'shop.example.org', 'asked'];
  assert.deepEqual(names.filter(isOut), ['example.com', 'www.example.com', 'shop.example.org']);
  assert.deepEqual(names.filter(createOptOut('')), []);
});
