import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app";

const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
