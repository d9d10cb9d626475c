// The supply chain of a provider: domains that depend on it, and providers used together with it.
import type { StackPaths } from '@strata/client';
import { Risk } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatName, formatNumber, formatRounded, formatShare } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { providerColumn } from '../links/columns.tsx';
import { CountLink, ProviderLink, SearchLink, usersIn } from '../links/links.tsx';

const PATH = '/stack/v1/intelligence/supply-chain/{provider}';
type Body = StackPaths[typeof PATH]['body'];
type Neighbour = Body['upstream'][number];

export function SupplyChain({ provider }: { readonly provider: string }) {
  const query = useStack(PATH, { path: { provider } });
  return (
    <Answer query={query}>
      {(body, source) => (
        <>
          <Card title="Impact of an outage" foot={source}>
            <p className="note">
              <Risk level={body.risk_level} of=" concentration risk" />
            </p>
            <Figures>
              <Figure name="Dependent domains">
                <ProviderLink id={body.provider_id} tab="domains">
                  {formatNumber(body.dependent_domains)}
                </ProviderLink>
              </Figure>
              <Figure
                name="Sole-source domains"
                value={body.sole_source_domains}
                note="no other provider in at least one role"
              />
              {Object.entries(body.share_by_role).map(([role, share]) => (
                <Figure key={role} name={`Share of ${formatName(role)}`} note={hhiOf(body, role)}>
                  <SearchLink of={usersIn({ role }, body.provider_id)}>{formatShare(share)}</SearchLink>
                </Figure>
              ))}
            </Figures>
            <h3 className="part-head">Reasons</h3>
            <ul className="bullets">
              {body.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </Card>
          <Neighbours
            body={body}
            title="Providers its domains also depend on"
            of={`of the domains of ${body.provider}`}
            rows={body.upstream}
          />
          <Neighbours
            body={body}
            title="Providers whose domains depend on it"
            of="of their own domains"
            rows={body.downstream}
          />
        </>
      )}
    </Answer>
  );
}

function hhiOf({ hhi_by_role }: Body, role: string): string {
  const hhi = hhi_by_role[role] ?? null;
  return hhi === null ? 'HHI unknown' : `HHI ${formatRounded(hhi)}`;
}

interface NeighboursProps {
  readonly body: Body;
  readonly title: string;
  /** The reference of the shares. */
  readonly of: string;
  readonly rows: readonly Neighbour[];
}

function Neighbours({ body: { provider_id: own, definition }, title, of, rows }: NeighboursProps) {
  const columns: readonly Column<Neighbour>[] = [
    providerColumn,
    numberColumn('Shared domains', 'domains', (count, { provider_id }) => (
      <CountLink count={count} of={{ provider: own, with: provider_id }} />
    )),
    numberColumn('Share', 'share', formatShare),
  ];
  return (
    <Card title={title} width="half">
      <DataTable
        caption={title}
        columns={columns}
        rows={rows}
        keyOf={({ provider_id }) => provider_id}
        empty="No provider shares enough domains with it."
      />
      <p className="small soft note">
        Share: {of}. {definition}
      </p>
    </Card>
  );
}
