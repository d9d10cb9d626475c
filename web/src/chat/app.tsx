// The frame of both views: name, navigation, API key, theme.
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Loading, Notice } from '../ui/states.tsx';
import { ThemeSwitch } from '../ui/theme/theme-switch.tsx';
import { ChatView } from './chat-view.tsx';
import { useKey } from './inference.ts';
import { KeyForm } from './key-form.tsx';
import { onLink, useLocation } from './location.ts';
import { useSite } from './site.ts';
import { useOnline } from './use-online.ts';

const Admin = lazy(async () => ({ default: (await import('./admin/admin.tsx')).Admin }));
const Machines = lazy(async () => ({ default: (await import('./machines/machines.tsx')).Machines }));

const VIEWS = [
  ['Chat', '/'],
  ['Machines', '/machines'],
] as const;

const TITLES: Readonly<Record<string, string>> = { '/machines': 'Machines', '/admin': 'Administration' };

export function App() {
  const { path, chat } = useLocation();
  const key = useKey();
  const [isKeyOpen, setKeyOpen] = useState(false);
  const keyButton = useRef<HTMLButtonElement>(null);
  const isOnline = useOnline();
  const explorerUrl = useSite()?.explorerUrl;
  useEffect(() => {
    document.title = `${TITLES[path] ?? 'Chat'} · Strata`;
  }, [path]);
  // A changed key closes the form.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the key changes
  useEffect(() => {
    if (isKeyOpen) keyButton.current?.focus();
    setKeyOpen(false);
  }, [key]);
  return (
    <div className="chat-app">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="bar chat-top">
        <a href="/" className="brand" onClick={onLink}>
          <img src="/favicon.svg" alt="" width="26" height="26" />
          Strata
        </a>
        <nav aria-label="Pages">
          {VIEWS.map(([name, to]) => (
            <a key={to} href={to} className="nav-link" onClick={onLink} aria-current={path === to ? 'page' : undefined}>
              {name}
            </a>
          ))}
          {explorerUrl && (
            <a href={explorerUrl} className="nav-link">
              Explorer
            </a>
          )}
        </nav>
        <button
          ref={keyButton}
          className="button"
          type="button"
          aria-expanded={isKeyOpen}
          aria-controls="key-panel"
          onClick={() => setKeyOpen(!isKeyOpen)}
        >
          {key === undefined ? 'Set key' : 'API key'}
        </button>
        <ThemeSwitch />
      </header>
      <div id="key-panel" className="chat-key-panel" hidden={!isKeyOpen}>
        {isKeyOpen && <KeyForm />}
      </div>
      <p className="banner small" role="status">
        {!isOnline && 'You are offline. You can read your conversations. New questions are queued.'}
      </p>
      <View path={path} chat={chat} />
    </div>
  );
}

function View({ path, chat }: { readonly path: string; readonly chat: string | null }) {
  if (path === '/machines' || path === '/admin') {
    return (
      <main id="content" tabIndex={-1} className="chat-machines content">
        <Suspense fallback={<Loading />}>{path === '/admin' ? <Admin /> : <Machines />}</Suspense>
      </main>
    );
  }
  if (path === '/') return <ChatView conversationId={chat} />;
  return (
    <main id="content" tabIndex={-1} className="chat-machines content">
      <Notice
        title="Page not found"
        actions={
          <a href="/" onClick={onLink}>
            Go to the chat
          </a>
        }
      />
    </main>
  );
}
