// Administration: keys, teams, prices and usage of the service. Needs an admin key.
import './admin.css';
import { useId, useState } from 'react';
import { Button, Command } from '../../ui/controls/button.tsx';
import { logIn, logOut, useAdminKey } from './admin-client.ts';
import { AuditCard } from './audit-card.tsx';
import { useForm } from './form.tsx';
import { KeysCard } from './keys-card.tsx';
import { PricesCard } from './prices-card.tsx';
import { TeamsCard } from './teams-card.tsx';
import { UsageCard } from './usage-card.tsx';

export function Admin() {
  const key = useAdminKey();
  return (
    <>
      <header className="page-head">
        <div>
          <h1>Administration</h1>
          <p className="soft">
            API keys with their models, limits and teams, prices, what was used, and what was changed.
          </p>
        </div>
        {key !== undefined && <Button onClick={logOut}>Log out</Button>}
      </header>
      {key === undefined ? (
        <LogIn />
      ) : (
        <div className="cards">
          <KeysCard />
          <TeamsCard />
          <PricesCard />
          <UsageCard />
          <AuditCard />
        </div>
      )}
    </>
  );
}

function LogIn() {
  const [text, setText] = useState('');
  const { form, isBusy, alert } = useForm(() => logIn(text.trim()));
  const id = useId();
  return (
    <form {...form}>
      <label htmlFor={id}>Admin key</label>
      <div className="actions">
        <input
          id={id}
          type="password"
          value={text}
          onChange={({ target }) => setText(target.value)}
          placeholder="sk-…"
          autoComplete="off"
          spellCheck={false}
          required
          aria-describedby={`${id}-note`}
        />
        <Button kind="primary" type="submit" disabled={isBusy}>
          Log in
        </Button>
      </div>
      {alert}
      <p id={`${id}-note`} className="small soft">
        The key stays in the memory of this page and is forgotten when it is closed or reloaded. The operator creates
        it:
      </p>
      <Command text="npx strata inference keys create --admin" />
    </form>
  );
}
