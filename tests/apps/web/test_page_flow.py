from __future__ import annotations

import time
from pathlib import Path

import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")
pytest.importorskip("plotly", reason="plotly is not installed")

from streamlit.testing.v1 import AppTest

import altclust.apps.web
from altclust.apps.web.serve import TABLE
from altclust.core.metrics import nmi

PAGE = Path(altclust.apps.web.__file__).with_name("page.py")


@pytest.fixture
def page(monkeypatch, customers_csv):
    monkeypatch.setenv(TABLE, str(customers_csv))
    return AppTest.from_file(PAGE, default_timeout=60).run()


def finished(page):
    """Look at the job until it has ended, as the browser does."""
    session = page.session_state["session"]
    while session.job is not None and not session.job.done:
        session.job.look()
        time.sleep(0.05)
    page.run()
    assert not page.exception
    return session


def settled(page):
    """Look at what runs aside until there is nothing more to do."""
    session = page.session_state["session"]
    while session.aside is not None:
        while not session.aside.done:
            session.aside.look()
            time.sleep(0.05)
        page.run()
        assert not page.exception
    return session


def chooser(page, label):
    return next(one for one in (*page.selectbox, *page.multiselect) if one.label == label)


def found(page):
    chooser(page, "Number of new clusters").set_value(2)
    page.button(key="find").click().run()
    return finished(page)


def html(page):
    return " ".join(element.proto.body for element in page.get("html"))


def test_the_file_that_was_named_is_open_and_its_segment_guessed(page):
    assert not page.exception
    assert page.multiselect[0].value == ["segment"]
    assert "customers.csv: 160 rows, 6 columns." in html(page)


def test_every_column_is_shown_with_its_type_and_use_before_the_search(page):
    listed = page.dataframe[-1].value.set_index("column")
    assert listed.index.tolist() == ["segment", "spend", "visits", "returns", "age", "height"]
    assert listed.loc["segment", ["type", "used as"]].tolist() == ["category", "given"]
    assert listed.loc["age", ["type", "used as"]].tolist() == ["number", "numbers"]
    assert page.expander[-1].label == "How the table is read"
    page.multiselect[0].set_value(["segment", "age"]).run()
    assert page.dataframe[-1].value.set_index("column").loc["age", "used as"] == "given"


def words(page):
    return " ".join([html(page), *(element.value for element in (*page.markdown, *page.text))])


def test_the_verdict_stands_beside_the_sentence_once_it_is_known(page):
    session = found(page)
    assert "Testing significance" in words(page)
    assert "not tested" not in words(page)
    session.drop_aside()
    page.run()
    assert "Significance not tested" in words(page)
    page.button(key="go-on").click().run()
    assert "not tested" not in words(page)
    while not session.aside.done:
        session.aside.look()
        time.sleep(0.05)
    page.run()
    badge = session.study.summary(session.view)["headline"]["badge"]
    assert badge.startswith(("New", "Significant"))
    assert badge in words(page)
    assert "Testing significance" not in words(page)


def test_all_views_are_found_while_the_first_is_looked_at(page, customers):
    session = found(page)
    first = session.view.labels
    settled(page)
    assert session.place == 0
    assert session.view.labels.tolist() == first.tolist()
    shown_views = session.study.views
    assert nmi(session.study.views[1].labels, customers[0]["age"] > 50) > 0.9
    assert "Nothing more that is significant: views" in words(page)
    tabs = page.get("button_group")[1]
    shown = [option.content for option in tabs.proto.options]
    real = [one.view.is_real for one in shown_views]
    assert real[0]
    assert real[-2:] == [False, False]
    assert shown == [f"View {i}" if good else f":gray[View {i}]" for i, good in enumerate(real, 1)]
    tabs.set_value(len(shown_views) - 1).run()
    last = session.view
    assert last is shown_views[-1]
    assert "Significance not tested" not in words(page)
    assert "view 1" in session.study.summary(shown_views[1])["headline"]["sentence"]


def test_the_number_of_clusters_of_the_automatic_search_gives_the_same_answer(page):
    page.button(key="find").click().run()
    session = finished(page)
    labels, k = session.view.labels.tolist(), session.view.view.n_clusters
    chooser(page, "Number of new clusters").set_value(k)
    page.button(key="find").click().run()
    before = session.study
    assert finished(page).study is not before
    assert session.view.labels.tolist() == labels


def test_the_charts_can_be_coloured_by_any_column(page):
    session = found(page)
    box = next(one for one in page.selectbox if one.label == "Colours of the right chart")
    assert box.options[:3] == ["Colour by new clusters", "Colour by segment", "Colour by spend"]
    assert len(box.options) == 7
    box.set_value(3).run()
    assert not page.exception
    assert [element.value for element in page.markdown].count("##### Column") == 1
    assert session.view is not None


def test_find_move_and_name(page, customers):
    session = found(page)
    hidden = customers[1]
    assert nmi(session.view.labels, hidden) > 0.9
    assert [metric.label for metric in page.metric] == ["Quality", "Overlap"]
    before = session.view.labels
    page.select_slider[0].set_value(20.0).run()
    session = finished(page)
    assert session.view.model.novelty_weight_ == 20.0
    assert (session.view.labels == before).mean() > 0.95
    assert page.metric[0].delta
    page.text_input[0].input("the <b>loyal</b>").run()
    assert session.view.cluster_names[0] == "the <b>loyal</b>"
    assert "the &lt;b&gt;loyal&lt;/b&gt; (" in html(page)
    page.select_slider[0].set_value(5.0).run()
    finished(page)
    assert session.view.cluster_names == ["the <b>loyal</b>", "cluster 1"]


def test_cancel_goes_back_and_ends_the_work(page):
    page.button(key="find").click().run()
    session = page.session_state["session"]
    job = session.job
    page.button(key="cancel").click().run()
    assert session.job is None
    assert session.view is None
    assert job.wait(20)
    assert not page.exception


def test_new_choices_take_the_place_of_the_old_views_only_once_they_are_found(page):
    session = found(page)
    first = session.study
    page.multiselect[0].set_value([]).run()
    page.button(key="find").click().run()
    assert session.study is first
    assert finished(page).study is not first
    assert session.view.known is None
    assert [metric.label for metric in page.metric] == ["Quality"]


def test_a_mistake_is_told_in_one_sentence(page):
    page.multiselect[0].set_value(list(page.multiselect[0].options)).run()
    page.button(key="find").click().run()
    finished(page)
    assert "No column can be clustered" in page.error[0].value


def edited(page, column, kind):
    """Choose a type, as the list of columns in the browser does."""
    page.session_state["session"].choose_type(column, kind)
    page.run()
    assert not page.exception
    return page.dataframe[-1].value.set_index("column")


def test_the_type_of_a_column_is_chosen_and_stays_until_another_table_is_opened(page):
    listed = edited(page, "age", "identifier")
    assert listed.loc["age", ["type", "used as", "why"]].tolist() == ["identifier", "left out", "identifier"]
    page.checkbox[0].uncheck().run()  # any other change
    assert page.dataframe[-1].value.set_index("column").loc["age", "type"] == "identifier"
    session = found(page)
    assert "age" not in session.study.study.X
    assert edited(page, "age", None).loc["age", "type"] == "number"
    edited(page, "age", "category")
    page.get("button_group")[0].set_value("An example").run()
    assert session.types == {}


def test_a_wrong_type_costs_nothing(page):
    listed = edited(page, "segment", "date")
    assert "types='date' asks for dates" in page.warning[0].value.replace("\\", "")
    assert listed["type"].tolist() == ["date", *["automatic"] * 5]
    assert "row 4" in listed
    listed = edited(page, "segment", None)
    assert not page.warning
    assert listed.loc["segment", ["type", "used as"]].tolist() == ["category", "given"]


def test_logarithms_decimal_mark_and_columns_to_leave_out_are_chosen(page):
    chooser(page, "Columns to leave out").set_value(["visits"]).run()
    chooser(page, "Logarithms").set_value("Of chosen columns").run()
    chooser(page, "Logarithms of").set_value(["height"]).run()
    chooser(page, "Decimal mark").set_value("Comma: 1,5").run()
    listed = page.dataframe[-1].value.set_index("column")
    assert listed.loc[["visits", "height"], "used as"].tolist() == ["left out", "logarithms"]
    chosen = altclust.TableEncoder(drop=("visits",), log=("height",), decimal=",", types={})
    assert found(page).study.choices.encoder == chosen
    chooser(page, "Logarithms of").set_value(["spend"]).run()
    assert "log='spend' cannot be taken" in page.warning[0].value.replace("\\", "")
    page.button(key="find").click().run()
    assert "log='spend' cannot be taken" in finished(page).problem
    chooser(page, "Logarithms").set_value("Automatic").run()
    assert not page.warning


def test_a_column_to_agree_with_is_no_feature(page):
    chooser(page, "Labels to agree with").set_value("age").run()
    assert page.dataframe[-1].value.set_index("column").loc["age", "used as"] == "to agree with"
    assert "age" not in chooser(page, "Columns to leave out").options
    session = found(page)
    assert session.study.choices.keep == "age"
    page.multiselect[0].set_value(["segment", "age"]).run()
    assert chooser(page, "Labels to agree with").value is None


def test_a_column_that_becomes_known_is_no_longer_looked_at(page):
    page.multiselect[1].set_value(["visits", "age"]).run()
    page.multiselect[0].set_value(["segment", "age"]).run()
    assert not page.exception
    assert page.multiselect[1].value == ["visits"]


def test_another_table_forgets_the_views_of_the_last(page):
    session = found(page)
    page.get("button_group")[0].set_value("An example").run()
    assert session.view is None
    assert "400 rows" in html(page)
