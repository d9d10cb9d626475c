// The entry of a provider in the catalog: the patterns that show it, with sources and examples, and where to change it.
import '../records/records.css';
import type { ReactNode } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { Command } from '../../ui/controls/button.tsx';
import { ExternalLink } from '../../ui/external-link.tsx';
import { formatCount, formatDay, formatName } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { minor, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { CategoryLink } from '../links/links.tsx';
import type { ProviderBody } from './domains.tsx';

type Rule = NonNullable<ProviderBody['catalog']>['rules'][number];
type PatternRow = Rule & Rule['patterns'][number] & { readonly key: string };

interface CatalogEntryProps {
  readonly provider: ProviderBody;
  readonly source: ReactNode;
}

export function CatalogEntry({ provider: { provider, provider_id: id, catalog }, source }: CatalogEntryProps) {
  if (!catalog) return <Empty>Its entry was removed from the catalog.</Empty>;
  const rows = catalog.rules.flatMap((rule, group) =>
    rule.patterns.map((pattern, at) => ({ ...rule, ...pattern, key: `${group} ${at}` })),
  );
  const examples = catalog.rules.flatMap((rule) => rule.examples);
  const counterexamples = catalog.rules.flatMap((rule) => rule.counterexamples);
  return (
    <Card title={formatCount(rows.length, 'pattern')} foot={source}>
      <DataTable
        caption={`Patterns that show ${provider}`}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ key }) => key}
        empty="No pattern shows it."
      />
      <Records title="Examples" records={examples} />
      <Records title="Counterexamples" records={counterexamples} />
      {catalog.file !== null && (
        <>
          <h3 className="part-head">Change it</h3>
          <p className="small soft note">
            Edit the entry in <code>{catalog.file}</code>; each pattern needs the document of the vendor as its source.
            Then check it:
          </p>
          <Command text={`npx strata catalog lint ${id} && npx strata catalog test ${id}`} />
        </>
      )}
    </Card>
  );
}

const COLUMNS: readonly Column<PatternRow>[] = [
  textColumn('Category', 'category', (category) => <CategoryLink category={category} />),
  minor(textColumn('Role', 'role', (role) => (role === null ? '–' : formatName(role)))),
  textColumn('Evidence', 'evidence'),
  textColumn('Pattern', 'pattern', (pattern) => <code>{pattern}</code>),
  textColumn('Source', 'source', (source) =>
    source === null || !URL.canParse(source) ? (
      '–'
    ) : (
      <ExternalLink href={source}>{new URL(source).hostname.replace(/^www\./, '')}</ExternalLink>
    ),
  ),
  minor(textColumn('Verified', 'verified_at', (day) => (day === null ? '–' : formatDay(day)))),
];

function Records({ title, records }: { readonly title: string; readonly records: readonly object[] }) {
  // Rule groups may have the same example.
  const texts = new Set(records.map((record) => JSON.stringify(record)));
  if (texts.size === 0) return null;
  return (
    <>
      <h3 className="part-head">{title}</h3>
      <ul className="stack tight">
        {[...texts].map((text) => (
          <li key={text} className="record-value">
            <code className="small">{text}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
