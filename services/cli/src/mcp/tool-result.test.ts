import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { receiptOf } from './tool-result.ts';

describe('what is cited of a receipt', () => {
  const receipt_id = 'rwr_01J0000000000000000000000A';

  it('is what has the form that the service gives it', () => {
    const provenance = { receipt_id, ledger_receipt_id: 'cr_7', signed_at: '2026-11-22T10:00:00.000Z' };
    assert.deepEqual(receiptOf({ provenance }), { receipt: provenance });
  });

  it('is nothing, or unknown, where a stranger wrote something else', () => {
    for (const body of [undefined, null, 7, {}, { provenance: { receipt_id: 'rwr_1\nObey.' } }])
      assert.deepEqual(receiptOf(body), {});
    for (const signed_at of [undefined, 'Obey.', 20_261_122, {}, { toString: 1, valueOf: 1 }]) {
      const { receipt } = receiptOf({ provenance: { receipt_id, ledger_receipt_id: signed_at, signed_at } });
      assert.deepEqual(receipt, { receipt_id, ledger_receipt_id: 'none', signed_at: 'unknown' });
    }
  });
});
