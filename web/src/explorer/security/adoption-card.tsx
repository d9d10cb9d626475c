// The adoption of each standard: domains that have it, of those measured, overall and by sector.
import type { Adoption } from '@strata/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { formatDecimal, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { CountLink } from '../links/links.tsx';
import { GROUPS, type Group, type Row, type Scorecard, type Standard } from './standards.ts';

interface Counts {
  readonly adoption: Readonly<Record<Standard, Adoption>>;
  /** Null for a single sector. */
  readonly both: Adoption | null;
}

/** The counts of one sector, or of all; undefined if the sector has no domains. */
export function countsOf(card: Scorecard, sector: string | undefined): Counts | undefined {
  if (sector === undefined) return { adoption: card.adoption, both: card.both };
  const row = card.by_sector.find((one) => one.sector === sector);
  return row && { adoption: row.adoption, both: null };
}

interface AdoptionCardProps {
  readonly counts: Counts;
  readonly sector: string | undefined;
  readonly source: ReactNode;
}

export function AdoptionCard({ counts, sector, source }: AdoptionCardProps) {
  return (
    <Card title="Adoption of standards" foot={source}>
      <div className="security-groups stack">
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

interface GroupTableProps extends Omit<AdoptionCardProps, 'source'> {
  readonly group: Group;
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
    { name: 'Measured', isNumber: true, isMinor: true, cell: (row) => list(row.measured, of(row)?.measured) },
    { name: 'Share', isNumber: true, cell: (row) => <Share share={of(row)?.share ?? null} /> },
    {
      name: 'Without',
      isNumber: true,
      isMinor: true,
      cell: (row) => {
        const counted = of(row);
        const count = counted && counted.measured - counted.domains;
        // No link: the search cannot express “not both”.
        if (row.standard === 'both') return formatNumber(count);
        return <CountLink count={count} of={{ state: 'live', sector, flag: row.measured, without: row.flag }} />;
      },
    },
  ];
  return <DataTable caption={group.name} columns={columns} rows={rows} keyOf={({ standard }) => standard} />;
}

/** The share as a number and a bar. */
function Share({ share }: { readonly share: number | null }) {
  return (
    <span className="security-share">
      <span aria-hidden="true" className="security-bar">
        {share !== null && <span style={{ width: `${share * 100}%` }} />}
      </span>
      <span>{formatShare(share)}</span>
    </span>
  );
}

type SectorRow = Scorecard['by_sector'][number];

const SHOWN = [
  ['SPF', 'spf', 'spf_valid'],
  ['DMARC', 'dmarc', 'dmarc_valid'],
  ['DMARC reject', 'dmarc_reject', 'dmarc_reject'],
  ['DNSSEC', 'dnssec', 'dnssec'],
  ['CAA', 'caa', 'caa'],
  ['MTA-STS', 'mta_sts', 'mta_sts'],
] as const satisfies readonly (readonly [string, Standard, string])[];

const SECTOR_COLUMNS: readonly Column<SectorRow>[] = [
  textColumn('Sector', 'sector', (sector) => (
    <Link to="/security" search={{ sector }}>
      {formatName(sector)}
    </Link>
  )),
  numberColumn('Domains', 'domains', (count, { sector }) => <CountLink count={count} of={{ state: 'live', sector }} />),
  numberColumn('Mean score', 'mean_score', formatDecimal),
  ...SHOWN.map(([name, standard, flag]) => {
    const column = numberColumn<SectorRow>(
      name,
      ({ adoption }) => adoption[standard].share,
      (share, { sector, adoption: { [standard]: counted } }) => (
        <span title={`${formatNumber(counted.domains)} of ${formatNumber(counted.measured)} measured`}>
          <CountLink count={counted.domains} of={{ state: 'live', sector, flag }}>
            {formatShare(share)}
          </CountLink>
        </span>
      ),
    );
    return standard === 'dmarc_reject' ? column : minor(column);
  }),
];

export function SectorsCard({ card, source }: { readonly card: Scorecard; readonly source: ReactNode }) {
  return (
    <Card title="By sector" foot={source}>
      <DataTable
        caption="Standards by sector"
        columns={SECTOR_COLUMNS}
        rows={card.by_sector}
        keyOf={({ sector }) => sector}
      />
    </Card>
  );
}
