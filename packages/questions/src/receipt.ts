// What is cited of the receipt of an answer.

export interface CitedReceipt {
  readonly receipt_id: string;
  /** Of the ledger's entry; `none` without one. */
  readonly ledger_receipt_id: string;
  readonly signed_at: string;
}

/** The ids of a body's receipt; empty where it has none. The format is validated, since the values are printed unchanged. */
export function receiptOf(body: unknown): { readonly receipt?: CitedReceipt } {
  const { provenance } = Object(body) as { readonly provenance?: unknown };
  const { receipt_id, ledger_receipt_id, signed_at } = Object(provenance) as Readonly<Record<string, unknown>>;
  if (!isId(receipt_id, 'rwr_')) return {};
  return {
    receipt: {
      receipt_id,
      ledger_receipt_id: isId(ledger_receipt_id, 'cr_') ? ledger_receipt_id : 'none',
      signed_at: typeof signed_at === 'string' && /^[\dT:.Z-]{20,32}$/.test(signed_at) ? signed_at : 'unknown',
    },
  };
}

function isId(value: unknown, prefix: string): value is string {
  return typeof value === 'string' && value.startsWith(prefix) && /^\w{4,64}$/.test(value);
}
