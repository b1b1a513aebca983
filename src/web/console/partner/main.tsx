import { render } from 'preact';
import './partner.css';

/** Root of the partner console. */
function App() {
  return <h1>Marketplace console</h1>;
}

render(<App />, document.querySelector('main')!);
