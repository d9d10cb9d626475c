import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { it } from 'node:test';
import { createAddressGuard } from '../address-guard.ts';
import { ROOT_ADDRESSES } from './root-hints.ts';

it('thirteen root servers are known, at addresses of both families that may be asked', () => {
  const guard = createAddressGuard();
  assert.equal(new Set(ROOT_ADDRESSES.filter((address) => isIP(address) === 4)).size, 13);
  assert.equal(new Set(ROOT_ADDRESSES.filter((address) => isIP(address) === 6)).size, 13);
  for (const address of ROOT_ADDRESSES) assert.equal(guard(address).isAllowed, true, address);
});
