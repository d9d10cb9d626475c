// Columns of advisories.
import type { Affected } from '@strata/client';
import { Badge, Severity } from '../../ui/badge.tsx';
import { textColumn } from '../../ui/table/columns.ts';
import type { Column } from '../../ui/table/data-table.tsx';
import { AdvisoryLink } from '../links/links.tsx';
import { SEVERITIES } from './labels.ts';

type Named = Pick<Affected, 'id' | 'title' | 'known_exploited'>;

export const nameColumn: Column<Named> = textColumn('Advisory', 'id', (id, { title, known_exploited: isExploited }) => (
  <div className="wide">
    <AdvisoryLink id={id} /> {isExploited && <Badge tone="bad">exploited</Badge>}
    <span className="small soft block">{title ?? '–'}</span>
  </div>
));

export const severityColumn: Column<Pick<Affected, 'severity'>> = {
  name: 'Severity',
  cell: ({ severity }) => <Severity level={severity} />,
  value: ({ severity }) => (severity === null ? null : -SEVERITIES.indexOf(severity)),
};

export const VersionRange = ({ range }: { readonly range: string | null }) =>
  range === null ? '–' : <code>{range}</code>;
