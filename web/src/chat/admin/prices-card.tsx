// Prices of models, of a million tokens: list, set and remove.
import type { ModelPrice, Price } from '@strata/client';
import { useState } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { minor, numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { call, useAdmin, useAdminRefresh } from './admin-client.ts';
import { Field, Read, useFields, useForm } from './form.tsx';
import { formatMoney, microsIn } from './money.ts';

const EMPTY = { model: '', input: '', output: '', cached: '' };
const amount = { inputMode: 'decimal', placeholder: '0.15' } as const;
const pathOf = (model: string) => `prices/${encodeURIComponent(model)}`;

export function PricesCard() {
  const prices = useAdmin<{ readonly data: readonly Price[] }>('prices');
  const refresh = useAdminRefresh();
  const { fields, field, clear } = useFields(EMPTY);
  const [problem, setProblem] = useState('');
  const { form, isBusy, alert } = useForm(async () => {
    await call('PUT', pathOf(fields.model.trim()), priceIn(fields));
    clear();
    await refresh();
  });
  const remove = async (model: string) => {
    setProblem('');
    await call('DELETE', pathOf(model)).catch((failed: Error) => setProblem(failed.message));
    await refresh();
  };
  return (
    <Card title="Prices" foot={<p className="small soft">Of a million tokens. Answers in progress keep theirs.</p>}>
      <details className="admin-new">
        <summary>Set a price</summary>
        <form {...form}>
          <div className="admin-fields">
            <Field label="Model or alias (*: all without a price)" required maxLength={200} {...field('model')} />
            <Field label="Input" required {...amount} {...field('input')} />
            <Field label="Output" required {...amount} {...field('output')} />
            <Field label="Cached input (as input if empty)" {...amount} {...field('cached')} />
          </div>
          {alert}
          <div className="actions">
            <Button kind="primary" type="submit" disabled={isBusy}>
              Set price
            </Button>
          </div>
        </form>
      </details>
      <p role="alert">{problem}</p>
      <Read of={prices} what="prices">
        {({ data }) => (
          <DataTable
            caption="Prices"
            columns={columnsOf((model) => void remove(model))}
            rows={data}
            keyOf={({ model }) => model}
            empty="No prices yet."
          />
        )}
      </Read>
    </Card>
  );
}

/** Throws an Error for an amount that is not valid. */
function priceIn({ input, output, cached }: typeof EMPTY): ModelPrice {
  const [input_micros, output_micros, cached_micros] = [input, output, cached || input].map(microsIn);
  if (input_micros === undefined || output_micros === undefined || cached_micros === undefined)
    throw new Error('A price is an amount, as 0.15.');
  return { input_micros, output_micros, cached_micros };
}

const columnsOf = (onRemove: (model: string) => void): readonly Column<Price>[] => [
  { name: 'Model', value: ({ model }) => model, cell: ({ model }) => <code>{model}</code> },
  numberColumn('Input', 'input_micros', formatMoney),
  minor(numberColumn('Cached', 'cached_micros', formatMoney)),
  numberColumn('Output', 'output_micros', formatMoney),
  {
    name: 'Actions',
    cell: ({ model }) => (
      <Button kind="small" aria-label={`Remove the price of ${model}`} onClick={() => onRemove(model)}>
        Remove
      </Button>
    ),
  },
];
