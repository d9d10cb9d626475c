// The adoption of the main standards by sector.
import type { Adoption } from '@strata/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { formatDecimal, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { CountLink } from '../search/search-links.tsx';
import type { Scorecard, Standard } from './standards.ts';

type SectorRow = Scorecard['by_sector'][number];

const SHOWN = [
  ['SPF', 'spf', 'spf_valid'],
  ['DMARC', 'dmarc', 'dmarc_valid'],
  ['DMARC reject', 'dmarc_reject', 'dmarc_reject'],
  ['DNSSEC', 'dnssec', 'dnssec'],
  ['CAA', 'caa', 'caa'],
  ['MTA-STS', 'mta_sts', 'mta_sts'],
] as const satisfies readonly (readonly [string, Standard, string])[];

export function SectorsCard({ card, foot }: { readonly card: Scorecard; readonly foot: ReactNode }) {
  const columns: readonly Column<SectorRow>[] = [
    {
      name: 'Sector',
      cell: ({ sector }) => (
        <Link to="/security" search={{ sector }}>
          {formatName(sector)}
        </Link>
      ),
      value: ({ sector }) => sector,
    },
    {
      name: 'Domains',
      isNumber: true,
      cell: ({ sector, domains }) => <CountLink count={domains} of={{ state: 'live', sector }} />,
      value: ({ domains }) => domains,
    },
    numberColumn('Mean score', (row) => row.mean_score, formatDecimal),
    ...SHOWN.map(
      ([name, standard, flag]): Column<SectorRow> => ({
        name,
        isNumber: true,
        cell: ({ sector, adoption }) => (
          <span title={counted(adoption[standard])}>
            <CountLink count={adoption[standard].domains} of={{ state: 'live', sector, flag }}>
              {formatShare(adoption[standard].share)}
            </CountLink>
          </span>
        ),
        value: ({ adoption }) => adoption[standard].share,
      }),
    ),
  ];
  return (
    <Card title="By sector" foot={foot}>
      <DataTable caption="Standards by sector" columns={columns} rows={card.by_sector} keyOf={({ sector }) => sector} />
    </Card>
  );
}

const counted = ({ domains, measured }: Adoption) => `${formatNumber(domains)} of ${formatNumber(measured)} measured`;
