// The adoption of each standard: domains that have it, of those measured.
import type { Adoption } from '@strata/client';
import type { ReactNode } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { formatNumber, formatShare } from '../../ui/formats.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { CountLink } from '../search/search-links.tsx';
import { GROUPS, type Group, type Row, type Scorecard, type Standard } from './standards.ts';

interface Counts {
  readonly adoption: Readonly<Record<Standard, Adoption>>;
  /** Null for a single sector. */
  readonly both: Adoption | null;
}

interface AdoptionCardProps {
  readonly counts: Counts;
  readonly sector: string | undefined;
  readonly foot: ReactNode;
}

export function AdoptionCard({ counts, sector, foot }: AdoptionCardProps) {
  return (
    <Card title="Adoption of standards" foot={foot}>
      <div className="security-groups">
        {GROUPS.map((group) => (
          <section key={group.name}>
            <h3>{group.name}</h3>
            <GroupTable group={group} counts={counts} sector={sector} />
          </section>
        ))}
      </div>
    </Card>
  );
}

interface GroupTableProps {
  readonly group: Group;
  readonly counts: Counts;
  readonly sector: string | undefined;
}

function GroupTable({ group, counts, sector }: GroupTableProps) {
  const rows = group.rows.filter(({ standard }) => standard !== 'both' || counts.both !== null);
  const of = ({ standard }: Row) => (standard === 'both' ? counts.both : counts.adoption[standard]);
  const list = (flag: string, count: number | undefined) => (
    <CountLink count={count} of={{ state: 'live', sector, flag }} />
  );
  const columns: readonly Column<Row>[] = [
    {
      name: 'Standard',
      cell: ({ name, note, isPart }) => (
        <span className={isPart ? 'security-standard part' : 'security-standard'}>
          <strong>{name}</strong> <span className="small soft">{note}</span>
        </span>
      ),
    },
    { name: 'Domains', isNumber: true, cell: (row) => list(row.flag, of(row)?.domains) },
    { name: 'Measured', isNumber: true, cell: (row) => list(row.measured, of(row)?.measured) },
    { name: 'Share', isNumber: true, cell: (row) => <Share of={of(row)} /> },
    {
      name: 'Without',
      isNumber: true,
      cell: (row) => {
        const counted = of(row);
        // No link: the search cannot express “not both”.
        if (row.standard === 'both') return formatNumber(withoutOf(counted));
        const { flag: without, measured: flag } = row;
        return <CountLink count={withoutOf(counted)} of={{ state: 'live', sector, flag, without }} />;
      },
    },
  ];
  return <DataTable caption={group.name} columns={columns} rows={rows} keyOf={({ standard }) => standard} />;
}

/** Domains that were measured and do not have it. */
const withoutOf = (of: Adoption | null) => (of ? of.measured - of.domains : null);

/** The share as a number and a bar. */
function Share({ of }: { readonly of: Adoption | null }) {
  const share = of?.share ?? null;
  return (
    <span className="security-share">
      <span aria-hidden="true" className="security-bar">
        {share !== null && <span style={{ width: `${share * 100}%` }} />}
      </span>
      <span>{formatShare(share)}</span>
    </span>
  );
}

/** The counts of one sector, or of all; undefined if the sector has no domains. */
export function countsOf(card: Scorecard, sector: string | undefined): Counts | undefined {
  if (sector === undefined) return { adoption: card.adoption, both: card.both };
  const row = card.by_sector.find((one) => one.sector === sector);
  return row && { adoption: row.adoption, both: null };
}
