import { render } from 'preact';
import './operator.css';

/** Root of the operator console. */
function App() {
  return <h1>Marketplace console</h1>;
}

render(<App />, document.querySelector('main')!);
